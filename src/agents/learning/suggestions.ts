import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import type { AgentRow } from '../../db/tables/project.ts';
import { type EvidenceGroup, groupEvidence } from '../../domain/learning/evidence.ts';
import { plainSuggestions, type Suggestion, wordedSuggestions } from '../../domain/learning/suggestion.ts';
import type { Model } from '../../llm/model.ts';
import { assertVersion } from '../figures.ts';
import { modelIfConfigured } from '../model.ts';
import { readEvidence } from './evidence.ts';
import { claimSuggestions, findSuggestions, storeSuggestions } from './suggestions-store.ts';
import { suggestionsPrompt, wordSuggestions } from './word-suggestions.ts';

/** A suggestion whose quotations link to the runs that they are about. */
type Linked = Omit<Suggestion, 'quotes'> & { quotes: (Suggestion['quotes'][number] & { url: string })[] };

/**
 * Returns what would improve an agent, from the latest runs of all its versions, or of one, in the caller's projects. A
 * model words the suggestions, once for each state of the evidence. Without a model, and while it has not answered, they
 * are in our own words.
 * @throws AppError 404 for a version that the agent does not have
 */
export async function readSuggestions(
  app: App,
  agent: AgentRow,
  userId: string,
  version?: number,
): Promise<{ suggestions: Linked[] }> {
  const of = { agentId: agent.id, version };
  await assertVersion(app.db.manager, of);
  const groups = groupEvidence(await readEvidence(app, userId, of));
  const model = groups.length === 0 ? undefined : await modelIfConfigured(app, agent);
  const worded = model === undefined ? undefined : await wordedOnce(app, agent, model, groups);
  return { suggestions: (worded ?? plainSuggestions(groups)).map((suggestion) => withLinks(app, suggestion)) };
}

/** Asks the model, unless it was already asked about the same evidence. Returns undefined while there is no answer. */
async function wordedOnce(
  app: App,
  agent: AgentRow,
  model: Model,
  groups: EvidenceGroup[],
): Promise<Suggestion[] | undefined> {
  const em = app.db.manager;
  const prompt = suggestionsPrompt(agent.systemPrompt, groups);
  // The prompt shows only some runs of each group, but a suggestion names all of them.
  const runs = groups.map(({ items }) => items.map(({ runId }) => runId));
  const key = createHash('sha256')
    .update(JSON.stringify([model.name, prompt, runs]))
    .digest('base64url');
  const told = { agentId: agent.id, key };
  const kept = await findSuggestions(em, told);
  if (kept !== undefined || !(await claimSuggestions(em, told))) return kept;
  const wordings = await wordSuggestions(app, model, prompt);
  if (wordings === undefined) return undefined;
  const suggestions = wordedSuggestions(groups, wordings);
  await app.db.transaction((tx) => storeSuggestions(tx, told, suggestions));
  return suggestions;
}

function withLinks({ config }: App, { quotes, ...suggestion }: Suggestion): Linked {
  const url = (taskId: string, runId: string) => `${config.BASE_URL}/tasks/${taskId}?tab=runs&run=${runId}`;
  return { ...suggestion, quotes: quotes.map((quote) => ({ ...quote, url: url(quote.taskId, quote.runId) })) };
}
