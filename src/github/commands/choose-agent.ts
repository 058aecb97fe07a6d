import type { EntityManager } from 'typeorm';
import {
  findAgentsByName,
  findDefaultAgent,
  listProjectAgents,
  listUsableAgents,
  type NamedAgent,
} from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { RunFailed } from '../../domain/run.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { getTask } from '../../tasks/store.ts';
import { type GivenCommand, mustHidePrivate } from '../given-command.ts';

/** Finds the agent that a command names. @throws Refused unless exactly one agent matches */
export async function agentNamed(app: App, given: GivenCommand, name: string): Promise<NamedAgent> {
  const { repository, userId } = given;
  const found = await findAgentsByName(app.db.manager, name.slice(0, 200), repository.projectId, userId);
  const [agent] = found;
  const shown = oneLine(name, 60);
  if (agent === undefined)
    throw new Refused(`This project has no agent named ${shown}. ${await agentsThere(app, given)}`);
  if (found.length > 1) throw new Refused(`${found.length} agents are named ${shown}. Rename all but one.`);
  return agent;
}

/** A refusal lists at most this many agents. */
const maxListed = 10;

/** Says which agents a command can name. Where everybody reads it, it names only the project's own. */
async function agentsThere(app: App, given: GivenCommand): Promise<string> {
  const em = app.db.manager;
  const { projectId } = given.repository;
  const agents = (await mustHidePrivate(app, given))
    ? await listProjectAgents(em, projectId)
    : await listUsableAgents(em, projectId, given.userId);
  const names = [...new Set(agents.map(({ name }) => oneLine(name, 60)))];
  if (names.length === 0) return 'It has no agents.';
  const rest = names.length > maxListed ? `, and ${names.length - maxListed} more` : '';
  return `It has: ${names.slice(0, maxListed).join(', ')}${rest}.`;
}

/**
 * Returns the agent named in the repository's settings file, otherwise the default agent of the project.
 * @throws Refused when there is no such agent
 */
export async function defaultAgent(app: App, given: GivenCommand): Promise<NamedAgent> {
  const { octokit, name } = given.at;
  const settings = await settingsOnGitHub(octokit, name).catch((error) => {
    // The settings file is invalid, or cannot be read. The run will fail and give the reason.
    if (error instanceof RunFailed || isRefusedWith(error, 403)) return undefined;
    throw error;
  });
  if (settings?.agent !== undefined) return agentNamed(app, given, settings.agent);
  const chosen = await findDefaultAgent(app.db.manager, given.repository.projectId);
  if (chosen === null)
    throw new Refused('The built-in Developer of this project was deleted. Name an agent in the comment.');
  return chosen;
}

/** Returns the agent for a task without an owner. Returns undefined when the task has an owner. */
export async function agentIfUnowned(
  app: App,
  given: GivenCommand,
  taskId: string | undefined,
): Promise<NamedAgent | undefined> {
  const isOwned = taskId !== undefined && (await getTask(app.db.manager, taskId)).owner !== null;
  return isOwned ? undefined : defaultAgent(app, given);
}

/** Reads what follows `start`: an agent's name, the words `plan` and `anyway`, or several of them in this order. */
export async function readStart(em: EntityManager, { command, repository, userId }: GivenCommand) {
  let name = command.argument;
  /** Takes a word from the end, unless it is the end of an agent's name. */
  const take = async (word: 'plan' | 'anyway') => {
    const before = beforeWord(name, word);
    if (before === undefined) return false;
    const isName =
      before !== '' && (await findAgentsByName(em, name.slice(0, 200), repository.projectId, userId)).length > 0;
    if (!isName) name = before.trimEnd();
    return !isName;
  };
  const isAnyway = await take('anyway');
  const planFirst = await take('plan');
  return { name, planFirst, isAnyway };
}

/** Returns what stands before the last word of a text; undefined if its last word is another one. */
function beforeWord(text: string, word: string): string | undefined {
  if (!text.toLowerCase().endsWith(word)) return undefined;
  const before = text.slice(0, -word.length);
  return before === '' || /\s$/.test(before) ? before : undefined;
}
