import { createHash } from 'node:crypto';
import { z } from 'zod';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import type { ToolSpec } from '../../llm/model.ts';
import { modelSchema } from './model-schema.ts';

/** A tool of an MCP server, as it is offered to the model. */
export interface OfferedTool {
  server: string;
  /** The name that the server gave it. */
  tool: string;
  spec: ToolSpec;
}

/** The answer of one server to the question for its tools. */
export interface Listing {
  server: string;
  /** The tools that people chose; null for all. */
  wanted: string[] | null;
  tools: unknown[];
}

/** OpenAI accepts 128 tools in a request, and the agent has about 20 of its own. */
const maxTools = 100;
/** Characters of all descriptions and schemas together. Each request contains them again. */
const maxChars = 100_000;
/** The limit of OpenAI for the description of a tool. */
const maxDescription = 1024;
/** The limit of OpenAI and Anthropic for names. */
const maxName = 64;

const declared = z.object({
  name: z.string().min(1).max(128),
  description: z.string().catch(''),
  inputSchema: z.unknown().optional(),
});

/**
 * Chooses the tools to offer. Names, descriptions and schemas come from the servers, so each is checked, shortened or left
 * out. `notes` says what was left out.
 */
export function offerTools(listings: Listing[]): { tools: OfferedTool[]; notes: string[] } {
  const tools = new Map<string, OfferedTool>();
  const notes: string[] = [];
  let chars = 0;
  for (const { server, wanted, tools: given } of listings) {
    const fit = given.flatMap((each) => declared.safeParse(each).data ?? []);
    const chosen = fit.filter(({ name }) => wanted === null || wanted.includes(name));
    let left = 0;
    for (const each of chosen) {
      const offered = offeredAs(server, each);
      const length = JSON.stringify(offered.spec).length;
      if (tools.size === maxTools || chars + length > maxChars || tools.has(offered.spec.name)) left += 1;
      else {
        tools.set(offered.spec.name, offered);
        chars += length;
      }
    }
    notes.push(...notesOn(server, { unfit: given.length - fit.length, left, absent: absentFrom(fit, wanted) }));
  }
  return { tools: [...tools.values()], notes };
}

function offeredAs(server: string, { name, description, inputSchema }: z.output<typeof declared>): OfferedTool {
  const origin = `[tool of the MCP server ${server}] `;
  const about = oneLine(plain(description), maxDescription - origin.length) || 'It has no description.';
  return {
    server,
    tool: name,
    spec: {
      name: fitName(`${server}__${name}`),
      description: `${origin}${about}`,
      parameters: modelSchema(inputSchema),
    },
  };
}

/** Replaces characters that model servers refuse in names. A name that is too long ends in a digest of the whole. */
function fitName(name: string): string {
  const fit = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (fit.length <= maxName) return fit;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${fit.slice(0, maxName - digest.length - 1)}_${digest}`;
}

function absentFrom(fit: { name: string }[], wanted: string[] | null): string[] {
  const names = new Set(fit.map(({ name }) => name));
  return (wanted ?? []).filter((name) => !names.has(name));
}

function notesOn(server: string, { unfit, left, absent }: { unfit: number; left: number; absent: string[] }): string[] {
  const notes: string[] = [];
  if (absent.length > 0) notes.push(`${server} has no tool ${oneLine(absent.join(', '), 200)}`);
  if (unfit > 0) notes.push(`${server} declares ${unfit} tools without a usable name; they are not offered`);
  if (left > 0)
    notes.push(`${left} tools of ${server} are not offered, because there are too many; choose some with "tools"`);
  return notes;
}
