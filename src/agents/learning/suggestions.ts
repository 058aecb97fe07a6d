import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import type { AgentRow } from '../../db/tables/project.ts';
import { groupEvidence } from '../../domain/learning/evidence.ts';
import { plainSuggestions, type Suggestion, wordedSuggestions } from '../../domain/learning/suggestion.ts';
import { runPage } from '../../domain/task-page.ts';
import { assertVersion } from '../figures.ts';
import { modelIfConfigured } from '../model.ts';
import { findAgent } from '../store.ts';
import { readEvidence } from './evidence.ts';
import {
  claimSuggestions,
  type EvidenceKey,
  findSuggestions,
  isBeingAsked,
  noteNoAnswer,
  storeSuggestions,
} from './suggestions-store.ts';
import { suggestionsPrompt, wordSuggestions } from './word-suggestions.ts';

/** A suggestion whose quotations link to the runs that they are about. */
type Linked = Omit<Suggestion, 'quotes'> & { quotes: (Suggestion['quotes'][number] & { url: string })[] };

/** Which suggestions: from the evidence that a user can see about one or all versions of an agent. */
interface Asked {
  agentId: string;
  userId: string;
  version?: number | undefined;
}

/**
 * Returns what would improve an agent, from the latest runs of all its versions, or of one, in the caller's projects.
 * The texts are fixed sentences until a model has written better ones from this evidence, which happens in a job.
 * `wording` means that the job is under way.
 * @throws AppError 404 for a version that the agent does not have
 */
export async function readSuggestions(
  app: App,
  agent: AgentRow,
  userId: string,
  version?: number,
): Promise<{ suggestions: Linked[]; wording?: true }> {
  await assertVersion(app.db.manager, { agentId: agent.id, version });
  const asked = { agentId: agent.id, userId, version };
  const { groups, request } = await evidenceOf(app, agent, asked);
  const worded = request && (await findSuggestions(app.db.manager, request));
  const isWording = request !== undefined && worded === undefined && (await queueWording(app, request, asked));
  const suggestions = (worded ?? plainSuggestions(groups)).map((suggestion) => withLinks(app, suggestion));
  return { suggestions, ...(isWording ? { wording: true as const } : {}) };
}

/**
 * Queues the job that asks a model, unless it was asked about the same evidence, or too often. Returns whether the model is
 * being asked.
 */
async function queueWording(app: App, request: EvidenceKey, asked: Asked): Promise<boolean> {
  return app.db.transaction(async (em) => {
    if (!(await claimSuggestions(em, request))) return isBeingAsked(em, request);
    await app.queue.send(em, 'suggestions', asked);
    return true;
  });
}

/** Handles the `suggestions` job: lets a model word suggestions, from the evidence as it is now. */
export async function writeSuggestions(app: App, asked: Asked): Promise<void> {
  const em = app.db.manager;
  const agent = await findAgent(em, asked.agentId);
  if (agent === null) return;
  const { groups, request } = await evidenceOf(app, agent, asked);
  if (request === undefined || (await findSuggestions(em, request)) !== undefined) return;
  const wordings = await wordSuggestions(app, request.model, request.prompt);
  if (wordings === undefined) await noteNoAnswer(em, request);
  else await storeSuggestions(em, request, wordedSuggestions(groups, wordings));
}

/** Returns the evidence in groups and the request to the model, which is undefined without evidence or without a model. */
async function evidenceOf(app: App, agent: AgentRow, { userId, version }: Asked) {
  const groups = groupEvidence(await readEvidence(app, userId, { agentId: agent.id, version }));
  const model = groups.length === 0 ? undefined : await modelIfConfigured(app, agent);
  if (model === undefined) return { groups, request: undefined };
  const prompt = suggestionsPrompt(agent.systemPrompt, groups);
  // The prompt shows only some runs of each group, but a suggestion names all of them.
  const runs = groups.map(({ items }) => items.map(({ runId }) => runId));
  const key = createHash('sha256')
    .update(JSON.stringify([model.name, prompt, runs]))
    .digest('base64url');
  return { groups, request: { agentId: agent.id, lineId: agent.lineId, key, model, prompt } };
}

function withLinks({ config }: App, { quotes, ...suggestion }: Suggestion): Linked {
  const url = (taskId: string, runId: string) => runPage(config.BASE_URL, taskId, runId);
  return { ...suggestion, quotes: quotes.map((quote) => ({ ...quote, url: url(quote.taskId, quote.runId) })) };
}
