import { distance } from 'fastest-levenshtein';
import type { EntityManager } from 'typeorm';
import { findAgentsByName } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import type { AgentRow } from '../../db/tables/project.ts';
import { defaultAgentName } from '../../domain/agent.ts';
import { Refused } from '../../domain/machine.ts';
import { RunFailed } from '../../domain/run.ts';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import { startTrial } from '../../environment/trial/operations.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { parseSettings, settingsFile } from '../../repositories/settings/repository-settings.ts';
import { cancelTask, startTask } from '../../runs/operations.ts';
import { addTasks, removeTask } from '../../sprints/operations.ts';
import { listOpenSprints } from '../../sprints/store.ts';
import { insertTask } from '../../tasks/operations.ts';
import { getTask } from '../../tasks/store.ts';
import { addSubtask, updateTask } from '../../tasks/update.ts';
import { mergeTask } from '../merge.ts';
import { findTaskOfIssue, lockIssue } from '../store.ts';
import { ask } from './ask.ts';
import { type GivenCommand, requiredArgument, requiredTask, taskOfCommand } from './given-command.ts';
import { plan, startPlanned } from './plan-verbs.ts';
import { answer, approve, revise, runVerbs } from './run-verbs.ts';

interface Verb {
  /** The argument of the command, as the help shows it. */
  takes: string;
  does: string;
  act(app: App, given: GivenCommand): Promise<unknown>;
}

/** Each verb calls the same operation as the REST API, so that checks and refusals are the same. */
export const verbs: Record<string, Verb> = {
  help: { takes: '', does: 'lists the commands', act: async () => {} },
  status: { takes: '', does: 'updates the status comment', act: requiredTask },
  create: {
    takes: '',
    does: 'creates a task from the issue',
    act: async (app, given) => (await taskOfCommand(app, given)) ?? createForIssue(app, given, 'backlog', undefined),
  },
  assign: {
    takes: '<agent>',
    does: 'assigns the task to an agent',
    act: async (app, given) => {
      const taskId = await requiredTask(app, given);
      const agent = await agentNamed(app.db.manager, given, requiredArgument(given, 'the name of an agent'));
      await updateTask(app, taskId, given.userId, { owner: agent.id });
    },
  },
  start: { takes: '[agent] [plan]', does: 'starts the agent; with plan, it proposes a plan first', act: start },
  retry: {
    takes: '[text]',
    does: 'tries again after a failure, optionally with a hint',
    act: async (app, given) => {
      const taskId = await requiredTask(app, given);
      const instructions = given.command.argument;
      await startTask(app, { taskId, startedBy: given.userId, kind: 'retry', instructions, also: given.remember });
    },
  },
  cancel: {
    takes: '',
    does: 'cancels the run',
    act: async (app, given) => cancelTask(app, await requiredTask(app, given)),
  },
  revise: {
    takes: '<text>',
    does: 'asks for changes to the plan that waits for approval, or to the work in review',
    act: revise,
  },
  ...runVerbs,
  subtask: {
    takes: '<title>',
    does: 'adds a subtask',
    act: async (app, given) => {
      const title = oneLine(requiredArgument(given, 'a title'), 200);
      await addSubtask(app, await requiredTask(app, given), given.userId, { title, description: '' }, given.remember);
    },
  },
  depends: { takes: '#n', does: 'makes the task wait for the task of another issue', act: depend },
  sprint: { takes: '<name|none>', does: 'moves the task into a sprint, or out of its sprint', act: moveToNamedSprint },
  plan: { takes: '[text]', does: 'plans a sprint from the issue, question by question', act: plan },
  answer: { takes: '<number or text>', does: 'answers the question of the agent or of the plan', act: answer },
  approve: { takes: '', does: 'approves the plan of the agent, or creates the sprint of the plan', act: approve },
  ask: { takes: '<text>', does: 'asks the agent a question; it changes nothing', act: ask },
  setup: {
    takes: '',
    does: 'tries set-up and checks of the default branch, without an agent',
    act: (app, { repository, source, remember }) =>
      startTrial(app, { repositoryId: repository.id, issueNumber: source.issue.number, also: remember }),
  },
  merge: {
    takes: '',
    does: 'merges the pull requests of the task',
    act: async (app, given) => mergeTask(app, await requiredTask(app, given)),
  },
};

/**
 * Carries out a command. Returns the reason when it is refused, otherwise undefined.
 * @throws Refused, or an AppError from the operation
 */
export async function carryOut(app: App, given: GivenCommand): Promise<string | undefined> {
  const name = given.command.verb;
  if (name === 'help') return undefined;
  const isPull = given.source.issue.isPull;
  if (isPull && name !== 'ask' && (await taskOfCommand(app, given)) === undefined)
    return 'This pull request belongs to no task. Only `help` and `ask` work here.';
  if (isPull && name === 'plan') return `\`${name}\` works in issues, and this is a pull request.`;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) return `There is no such command. Did you mean \`${nearest(name)}\`?`;
  await verb.act(app, given);
  return undefined;
}

export const planVerbs = new Set(['plan', 'answer', 'approve']);

function nearest(name: string): string {
  const word = name.slice(0, 50);
  return Object.keys(verbs).reduce((best, verb) => (distance(word, verb) < distance(word, best) ? verb : best));
}

async function start(app: App, given: GivenCommand): Promise<void> {
  const { userId } = given;
  const em = app.db.manager;
  const known = await taskOfCommand(app, given);
  const { name, planFirst } = await readStart(em, given);
  if (known === undefined && name === '' && !planFirst && (await startPlanned(app, given))) return;
  const named = name === '' ? undefined : await agentNamed(em, given, name);
  const owner = named ?? (await agentIfUnowned(em, given, known));
  const taskId = known ?? (await createForIssue(app, given, 'ready', owner ?? (await defaultAgent(em, given))));
  const planned = planFirst ? { planFirst } : {};
  await startTask(app, {
    taskId,
    startedBy: userId,
    kind: 'start',
    owner: owner?.id,
    ...planned,
    also: given.remember,
  });
}

/** Reads an agent's name, the word `plan`, or both. The name of an agent may end in `plan`. */
async function readStart(em: EntityManager, { command, repository, userId }: GivenCommand) {
  const name = command.argument;
  const [, first = ''] = /^(.*?)\s*\bplan$/is.exec(name) ?? [];
  const isWord = /(^|\s)plan$/i.test(name);
  const isName =
    first !== '' && (await findAgentsByName(em, name.slice(0, 200), repository.projectId, userId)).length > 0;
  return isWord && !isName ? { name: first, planFirst: true } : { name, planFirst: false };
}

async function depend(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  const number = Number(/^#(\d{1,9})$/.exec(given.command.argument)?.[1]);
  if (!number) throw new Refused('Write the number of an issue in this repository after `depends`, such as #12.');
  const other = await findTaskOfIssue(app.db.manager, given.repository.id, number);
  if (other === undefined) throw new Refused(`Issue ${number} of this repository has no task.`);
  const { dependsOn } = await getTask(app.db.manager, taskId);
  await updateTask(app, taskId, given.userId, { dependsOn: [...dependsOn, other] });
}

/** Finds the sprint by its name among the planned and active ones, ignoring case. */
async function moveToNamedSprint(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  const name = requiredArgument(given, 'the name of a sprint, or none');
  const { sprintId } = await getTask(app.db.manager, taskId);
  if (name.toLowerCase() === 'none') {
    if (sprintId !== null) await removeTask(app, sprintId, taskId);
    return;
  }
  const open: { id: string; name: string }[] = await listOpenSprints(app.db.manager, given.repository.projectId);
  const found = open.filter((s) => s.name.toLowerCase() === name.toLowerCase());
  const [sprint] = found;
  if (sprint === undefined || found.length > 1) {
    const count = sprint === undefined ? 'No' : 'More than one';
    const names = open.slice(0, 20).map((s) => oneLine(s.name, 60));
    throw new Refused(
      `${count} planned or active sprint is named ${oneLine(name, 60)}. There are: ${names.join(', ') || 'none'}.`,
    );
  }
  await addTasks(app, sprint.id, [taskId], () => 'sprint');
}

async function agentNamed(em: EntityManager, { repository, userId }: GivenCommand, name: string): Promise<AgentRow> {
  const found = await findAgentsByName(em, name.slice(0, 200), repository.projectId, userId);
  const [agent] = found;
  const shown = oneLine(name, 60);
  if (agent === undefined) throw new Refused(`This project has no agent named ${shown}.`);
  if (found.length > 1) throw new Refused(`${found.length} agents are named ${shown}. Rename all but one.`);
  return agent;
}

/** Creates the task of an issue, or returns the existing one. Two simultaneous commands create one task. */
async function createForIssue(
  app: App,
  { source, repository, userId, remember }: GivenCommand,
  status: 'backlog' | 'ready',
  agent: AgentRow | undefined,
): Promise<string> {
  const { issue } = source;
  return app.db.transaction(async (em) => {
    await lockIssue(em, repository.id, issue.number);
    const existing = await findTaskOfIssue(em, repository.id, issue.number);
    if (existing !== undefined) return existing;
    if (status === 'backlog') await remember(em);
    return insertTask(app, em, repository.projectId, {
      title: oneLine(plain(issue.title), 200) || `Issue ${issue.number}`,
      // The issue's text at the time of the command. Later edits, which nobody may have reviewed, never reach the
      // agent.
      description: plain(issue.body).slice(0, 50_000),
      status,
      owner: agent?.id,
      repositoryId: repository.id,
      createdBy: userId,
      issue: { repositoryId: repository.id, number: issue.number, url: issue.url },
    });
  });
}

/** Returns the agent named in the repository's settings file, otherwise the built-in Developer. */
async function defaultAgent(em: EntityManager, given: GivenCommand): Promise<AgentRow> {
  const { octokit, name } = given.at;
  const path = 'GET /repos/{owner}/{repo}/contents/{path}';
  const file = await octokit.request(path, { ...name, path: settingsFile }).then(
    ({ data }) => data,
    (error) => {
      if (isRefusedWith(error, 403, 404)) return undefined;
      throw error;
    },
  );
  const content = file !== undefined && 'content' in file ? file.content : '';
  const settings = await parseSettings(Buffer.from(content, 'base64')).catch((error) => {
    // The settings file is invalid. The run will fail and give the reason.
    if (error instanceof RunFailed) return undefined;
    throw error;
  });
  return agentNamed(em, given, settings?.agent ?? defaultAgentName);
}

/** Returns the agent for a task without an owner. Returns undefined when the task has an owner. */
async function agentIfUnowned(
  em: EntityManager,
  given: GivenCommand,
  taskId: string | undefined,
): Promise<AgentRow | undefined> {
  const isOwned = taskId !== undefined && (await getTask(em, taskId)).owner !== null;
  return isOwned ? undefined : defaultAgent(em, given);
}
