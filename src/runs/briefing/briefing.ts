import type { App } from '../../app.ts';
import { withoutSecrets } from '../../domain/secrets/without-secrets.ts';
import type { Image, Message } from '../../llm/model.ts';
import type { AboutRun } from '../agent/about-run.ts';
import { type McpTools, openMcpTools } from '../mcp/mcp-tools.ts';
import { readDiscussion } from './discussion.ts';
import { sectionsOf } from './sections.ts';
import { readSkills } from './skills.ts';

/** What an agent gets besides its task. */
export interface Briefing {
  /** Sections of the first message, in their order. */
  sections: string[];
  /** Attached to the first message; see `withImages`. */
  images: Image[];
  /** The tools of MCP servers. */
  mcp: McpTools;
}

/** Reads comments, images and skills, and asks the MCP servers of the project for their tools. */
export async function openBriefing(app: App, work: AboutRun, signal: AbortSignal): Promise<Briefing> {
  const opening = openMcpTools(app, work, signal);
  try {
    const [mcp, discussion, skills] = await Promise.all([
      opening,
      readDiscussion(app, work, signal),
      readSkills(work.checkout, work.baseHead),
    ]);
    const sections = sectionsOf({ discussion, skills, mcp, environment: work.environment.told });
    return { sections: withoutSecrets(sections, work.secrets), images: discussion.images, mcp };
  } catch (error) {
    await opening.then(
      (mcp) => mcp.close(),
      () => {},
    );
    throw error;
  }
}

/** Attaches the images to the last of the first messages. */
export function withImages(opening: Message[], images: Image[]): Message[] {
  const last = opening.at(-1);
  if (images.length === 0 || last?.role !== 'user') return opening;
  return [...opening.slice(0, -1), { ...last, images }];
}
