import type { EntityManager } from 'typeorm';
import { findAgentsByName } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { AgentRow, RepositoryRow } from '../db/tables.ts';
import { Tasks } from '../db/work-tables.ts';
import { defaultAgentName } from '../domain/agent.ts';
import type { Command } from '../domain/commands.ts';
import { Refused } from '../domain/machine.ts';
import { cancelTask, startTask } from '../runs/operations.ts';
import { insertTask } from '../tasks/operations.ts';
import type { Spoken } from './handle-commands.ts';
import { mergeTask } from './merge.ts';
import { findTaskOfIssue } from './store.ts';

interface Order {
  command: Command;
  spoken: Spoken;
  repository: RepositoryRow;
  userId: string;
  /** Called inside the transaction of what the command does, so that both happen or neither. */
  remember(em: EntityManager): Promise<void>;
}

type Verb = (app: App, order: Order) => Promise<void>;

/** Each verb is the operation that the REST interface calls too: the same checks, the same words of refusal. */
const verbs: Record<string, Verb> = {
  start: async (app, order) => {
    const { spoken, repository, userId, command } = order;
    const em = app.db.manager;
    const known = await findTaskOfIssue(em, repository.id, spoken.issue.number);
    const named = command.argument === '' ? undefined : await agentNamed(em, order, command.argument);
    const owner = named ?? (await ownerlessNeeds(em, order, known));
    const taskId =
      known ?? (await createForIssue(app, order, owner ?? (await agentNamed(em, order, defaultAgentName))));
    await startTask(app, { taskId, startedBy: userId, kind: 'start', owner: owner?.id, also: order.remember });
  },
  retry: async (app, order) => {
    const taskId = await taskOf(app, order);
    const instructions = order.command.argument;
    await startTask(app, { taskId, startedBy: order.userId, kind: 'retry', instructions, also: order.remember });
  },
  cancel: async (app, order) => {
    await cancelTask(app, await taskOf(app, order));
  },
  merge: async (app, order) => {
    await mergeTask(app, await taskOf(app, order));
  },
};

export const verbNames = ['start [agent]', 'retry [hint]', 'cancel', 'merge', 'help'];

/** Does what a command says. Answers a refusal in words, or undefined. @throws Refused, AppError as the operation does */
export async function obey(app: App, order: Order): Promise<string | undefined> {
  if (order.command.verb === 'help') return undefined;
  const verb = Object.hasOwn(verbs, order.command.verb) ? verbs[order.command.verb] : undefined;
  if (verb === undefined) return `there is no such command; there are ${Object.keys(verbs).join(', ')}`;
  if (order.spoken.issue.isPull && (await taskOfPlace(app, order)) === undefined)
    return 'this pull request belongs to no task';
  await verb(app, order);
  return undefined;
}

async function taskOfPlace(app: App, { repository, spoken }: Order): Promise<string | undefined> {
  const { number, isPull } = spoken.issue;
  if (!isPull) return findTaskOfIssue(app.db.manager, repository.id, number);
  const [row] = await app.db.manager.query(
    'select task_id as "taskId" from pull_requests where repository_id = $1 and number = $2',
    [repository.id, number],
  );
  return row?.taskId;
}

async function taskOf(app: App, order: Order): Promise<string> {
  const taskId = await taskOfPlace(app, order);
  if (taskId === undefined)
    throw new Refused(`${order.command.verb} requires a task, found none for this issue; begin with start`);
  return taskId;
}

async function agentNamed(em: EntityManager, { repository, userId }: Order, name: string): Promise<AgentRow> {
  const found = await findAgentsByName(em, name, repository.projectId, userId);
  const [agent] = found;
  if (agent === undefined) throw new Refused(`requires an agent of this project, found none named ${name}`);
  if (found.length > 1) throw new Refused(`requires one agent, found ${found.length} named ${name}; rename one`);
  return agent;
}

/** One task per issue; two commands at once make one. */
async function createForIssue(app: App, { spoken, repository, userId }: Order, agent: AgentRow): Promise<string> {
  return app.db.transaction(async (em) => {
    await em.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [
      `${repository.id}#${spoken.issue.number}`,
    ]);
    const existing = await findTaskOfIssue(em, repository.id, spoken.issue.number);
    if (existing !== undefined) return existing;
    return insertTask(app, em, repository.projectId, {
      title: titleOf(spoken),
      description: spoken.issue.body.replaceAll('\0', '').slice(0, 50_000),
      status: 'ready',
      owner: agent.id,
      repositoryId: repository.id,
      createdBy: userId,
      issue: { repositoryId: repository.id, number: spoken.issue.number, url: spoken.issue.url },
    });
  });
}

function titleOf({ issue }: Spoken): string {
  return issue.title.replaceAll('\0', '').trim().slice(0, 200) || `Issue ${issue.number}`;
}

/** A task without an owner gets the shipped Developer. */
async function ownerlessNeeds(
  em: EntityManager,
  order: Order,
  taskId: string | undefined,
): Promise<AgentRow | undefined> {
  const isOwned = taskId !== undefined && (await em.findOneByOrFail(Tasks, { id: taskId })).owner !== null;
  return isOwned ? undefined : agentNamed(em, order, defaultAgentName);
}
