import { closest } from 'fastest-levenshtein';
import type { App } from '../app.ts';
import type { AgentRow } from '../db/tables/project.ts';
import { revealSecret } from '../projects/secrets.ts';

/** How long a reply waits for the list of a server that was not asked before. */
const maxWaitMs = 2000;

/**
 * Returns the names of the models that the server lists for a project, or for people without one; undefined if the server
 * gives no list or takes too long, or if there is no key.
 */
export async function listModelNames(app: App, projectId: string | null): Promise<string[] | undefined> {
  const own = projectId === null ? undefined : await revealSecret(app, projectId, 'model_token');
  const key = own ?? app.config.OPENAI_API_KEY;
  return key === undefined ? undefined : app.models.names(key, maxWaitMs);
}

/**
 * Returns what people should know about the model of an agent, or null. Not every server lists all the models that it has,
 * so this never forbids anything.
 */
export async function modelWarning(
  app: App,
  { model, projectId }: Pick<AgentRow, 'model' | 'projectId'>,
): Promise<string | null> {
  if (model === '') return null;
  return warningAbout(model, await listModelNames(app, projectId));
}

/** Returns the warning about a model, given the names that its server lists. */
export function warningAbout(model: string, names: readonly string[] | undefined): string | null {
  // Ollama serves `llama3:latest` as `llama3`, too.
  if (names === undefined || names.includes(model) || names.includes(`${model}:latest`)) return null;
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]));
  const nearest = byLowerCase.get(closest(model.toLowerCase(), [...byLowerCase.keys()]));
  return `The model server does not list ${model}. The nearest name that it lists is ${nearest}.`;
}
