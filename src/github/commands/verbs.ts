import { distance } from 'fastest-levenshtein';
import type { EntityManager } from 'typeorm';
import { findAgentsByName } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import type { AgentRow } from '../../db/tables.ts';
import { Tasks } from '../../db/work-tables.ts';
import { defaultAgentName } from '../../domain/agent.ts';
import { Refused } from '../../domain/machine.ts';
import { RunFailed } from '../../domain/run.ts';
import { oneLine, plain } from '../../domain/text/quoted.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { cancelTask, reviseTask, startTask } from '../../runs/operations.ts';
import { parseSettings, settingsFile } from '../../runs/settings/repository-settings.ts';
import { addTasks, removeTask } from '../../sprints/operations.ts';
import { listOpenSprints } from '../../sprints/store.ts';
import { insertTask } from '../../tasks/operations.ts';
import { getTask } from '../../tasks/store.ts';
import { addSubtask, updateTask } from '../../tasks/update.ts';
import { mergeTask } from '../merge.ts';
import { findTaskOfIssue } from '../store.ts';
import { ask } from './ask.ts';
import { needed, type Order, taskOf, taskOfOrder } from './order.ts';
import { answerPlan, approvePlan, plan, startPlanned } from './plan-verbs.ts';

interface Verb {
  /** What follows the verb, for help. */
  takes: string;
  does: string;
  act(app: App, order: Order): Promise<unknown>;
}

/** Each verb is the operation that the REST interface calls too: the same checks, the same words of refusal. */
export const verbs: Record<string, Verb> = {
  help: { takes: '', does: 'lists the commands', act: async () => {} },
  status: { takes: '', does: 'brings the status comment up to date', act: taskOf },
  create: {
    takes: '',
    does: 'makes a task of the issue',
    act: async (app, order) => (await taskOfOrder(app, order)) ?? createForIssue(app, order, 'backlog', undefined),
  },
  assign: {
    takes: '<agent>',
    does: 'gives the task to an agent',
    act: async (app, order) => {
      const taskId = await taskOf(app, order);
      const agent = await agentNamed(app.db.manager, order, needed(order, 'the name of an agent'));
      await updateTask(app, taskId, order.userId, { owner: agent.id });
    },
  },
  start: { takes: '[agent]', does: 'lets the agent begin', act: start },
  retry: {
    takes: '[text]',
    does: 'tries again after a failure, with a hint',
    act: async (app, order) => {
      const taskId = await taskOf(app, order);
      const instructions = order.command.argument;
      await startTask(app, { taskId, startedBy: order.userId, kind: 'retry', instructions, also: order.remember });
    },
  },
  cancel: { takes: '', does: 'stops the run', act: async (app, order) => cancelTask(app, await taskOf(app, order)) },
  revise: {
    takes: '<text>',
    does: 'asks for a change of the work in review',
    act: async (app, order) => {
      const taskId = await taskOf(app, order);
      const text = needed(order, 'what should be different');
      const about = { taskId, source: 'person', text, cause: null, askedBy: order.userId } as const;
      await reviseTask(app, about, order.remember);
    },
  },
  subtask: {
    takes: '<title>',
    does: 'adds a subtask',
    act: async (app, order) => {
      const title = oneLine(needed(order, 'a title'), 200);
      await addSubtask(app, await taskOf(app, order), order.userId, { title, description: '' }, order.remember);
    },
  },
  depends: { takes: '#n', does: 'lets the task wait for that of another issue', act: depend },
  sprint: { takes: '<name|none>', does: 'puts the task into a sprint, or into none', act: moveToNamedSprint },
  plan: { takes: '[text]', does: 'plans a sprint from the issue, question by question', act: plan },
  answer: { takes: '<numbers or text>', does: 'answers the question of the plan', act: answerPlan },
  approve: { takes: '', does: 'makes the sprint of the plan', act: approvePlan },
  ask: { takes: '<text>', does: 'asks the agent; it reads and changes nothing', act: ask },
  merge: {
    takes: '',
    does: 'merges the pull requests of the task',
    act: async (app, order) => mergeTask(app, await taskOf(app, order)),
  },
};

/** Does what a command says. Answers a refusal in words, or undefined. @throws Refused, AppError as the operation does */
export async function obey(app: App, order: Order): Promise<string | undefined> {
  const name = order.command.verb;
  if (name === 'help') return undefined;
  const isPull = order.spoken.issue.isPull;
  if (isPull && name !== 'ask' && (await taskOfOrder(app, order)) === undefined)
    return 'this pull request belongs to no task; only help and ask work here';
  if (isPull && planVerbs.has(name)) return `${name} works in an issue, found a pull request`;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) return `there is no such command; did you mean \`${nearest(name)}\`?`;
  await verb.act(app, order);
  return undefined;
}

export const planVerbs = new Set(['plan', 'answer', 'approve']);

function nearest(name: string): string {
  const word = name.slice(0, 50);
  return Object.keys(verbs).reduce((best, verb) => (distance(word, verb) < distance(word, best) ? verb : best));
}

async function start(app: App, order: Order): Promise<void> {
  const { userId, command } = order;
  const em = app.db.manager;
  const known = await taskOfOrder(app, order);
  if (known === undefined && command.argument === '' && (await startPlanned(app, order))) return;
  const named = command.argument === '' ? undefined : await agentNamed(em, order, command.argument);
  const owner = named ?? (await ownerlessNeeds(em, order, known));
  const taskId = known ?? (await createForIssue(app, order, 'ready', owner ?? (await defaultAgent(em, order))));
  await startTask(app, { taskId, startedBy: userId, kind: 'start', owner: owner?.id, also: order.remember });
}

async function depend(app: App, order: Order): Promise<void> {
  const taskId = await taskOf(app, order);
  const number = Number(/^#(\d{1,9})$/.exec(order.command.argument)?.[1]);
  if (!number) throw new Refused('depends requires an issue of this repository, such as #12');
  const other = await findTaskOfIssue(app.db.manager, order.repository.id, number);
  if (other === undefined) throw new Refused(`depends requires an issue with a task, found none for issue ${number}`);
  const { dependsOn } = await getTask(app.db.manager, taskId);
  await updateTask(app, taskId, order.userId, { dependsOn: [...dependsOn, other] });
}

/** By its name among the sprints that are not over, ignoring case. */
async function moveToNamedSprint(app: App, order: Order): Promise<void> {
  const taskId = await taskOf(app, order);
  const name = needed(order, 'the name of a sprint, or none');
  const { sprintId } = await getTask(app.db.manager, taskId);
  if (name.toLowerCase() === 'none') {
    if (sprintId !== null) await removeTask(app, sprintId, taskId);
    return;
  }
  const open: { id: string; name: string }[] = await listOpenSprints(app.db.manager, order.repository.projectId);
  const found = open.filter((s) => s.name.toLowerCase() === name.toLowerCase());
  const [sprint] = found;
  if (sprint === undefined || found.length > 1)
    throw new Refused(
      `requires one sprint that is planned or active, found ${found.length} named ${oneLine(name, 60)}; there are: ${
        open
          .slice(0, 20)
          .map((s) => oneLine(s.name, 60))
          .join(', ') || 'none'
      }`,
    );
  await addTasks(app, sprint.id, [taskId], () => 'sprint');
}

async function agentNamed(em: EntityManager, { repository, userId }: Order, name: string): Promise<AgentRow> {
  const found = await findAgentsByName(em, name.slice(0, 200), repository.projectId, userId);
  const [agent] = found;
  const shown = oneLine(name, 60);
  if (agent === undefined) throw new Refused(`requires an agent of this project, found none named ${shown}`);
  if (found.length > 1) throw new Refused(`requires one agent, found ${found.length} named ${shown}; rename one`);
  return agent;
}

/** One task per issue; two commands at once make one. */
async function createForIssue(
  app: App,
  { spoken, repository, userId, remember }: Order,
  status: 'backlog' | 'ready',
  agent: AgentRow | undefined,
): Promise<string> {
  const { issue } = spoken;
  return app.db.transaction(async (em) => {
    await em.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [`${repository.id}#${issue.number}`]);
    const existing = await findTaskOfIssue(em, repository.id, issue.number);
    if (existing !== undefined) return existing;
    if (status === 'backlog') await remember(em);
    return insertTask(app, em, repository.projectId, {
      title: oneLine(plain(issue.title), 200) || `Issue ${issue.number}`,
      // As it is now: what is edited later never reaches the agent unseen.
      description: plain(issue.body).slice(0, 50_000),
      status,
      owner: agent?.id,
      repositoryId: repository.id,
      createdBy: userId,
      issue: { repositoryId: repository.id, number: issue.number, url: issue.url },
    });
  });
}

/** The agent that the repository names in its settings, else the shipped Developer. */
async function defaultAgent(em: EntityManager, order: Order): Promise<AgentRow> {
  const { octokit, name } = order.at;
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
    // The run will say what is wrong with the file.
    if (error instanceof RunFailed) return undefined;
    throw error;
  });
  return agentNamed(em, order, settings?.agent ?? defaultAgentName);
}

/** A task without an owner gets one. */
async function ownerlessNeeds(
  em: EntityManager,
  order: Order,
  taskId: string | undefined,
): Promise<AgentRow | undefined> {
  const isOwned = taskId !== undefined && (await em.findOneByOrFail(Tasks, { id: taskId })).owner !== null;
  return isOwned ? undefined : defaultAgent(em, order);
}
