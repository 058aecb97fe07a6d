import {
  type AgentEntry,
  getTask,
  listAgents,
  listRepositories,
  listTasks,
  type RepositoryEntry,
  type Task,
} from '../api.ts';
import { CommandFailed, UsageError } from './failures.ts';
import { atEnd, shortest } from './id-ends.ts';
import type { Session } from './session.ts';

const isFull = (id: string) => /^[a-z]+_[0-9a-z]{26}$/.test(id);

/** How many of the newest tasks are searched for an end of an id. */
const searched = 500;
const pageSize = 100;

/** Finds a task by its id, or by a unique end of its id among the newest tasks of the project. */
export async function findTask(session: Session, wanted: string): Promise<Task> {
  if (isFull(wanted)) return getTask(wanted, session.at);
  const project = await session.project();
  const found: Task[] = [];
  for (let offset = 0; offset < searched; offset += pageSize) {
    const page = await listTasks(project.id, { limit: pageSize, offset }, session.at);
    found.push(...page.filter(({ id }) => id === wanted || atEnd(id, wanted)));
    if (page.length < pageSize) break;
  }
  const exact = found.find(({ id }) => id === wanted);
  const [task, another] = exact === undefined ? found : [exact];
  if (task === undefined)
    throw new CommandFailed(
      `None of the ${searched} newest tasks of ${project.slug} has an id that ends with ${wanted}. Give the full id, or at least its last ${shortest} letters. "deckhand task list" shows them.`,
    );
  if (another !== undefined)
    throw new CommandFailed(
      `Several tasks have ids that end with ${wanted}. Give more of the id:\n${found.map((t) => `  ${t.id}  ${t.title}`).join('\n')}`,
    );
  return task;
}

/** Finds an agent that can work in the project by its id, a unique end of it, or its name. */
export async function findAgent(session: Session, projectId: string, wanted: string): Promise<AgentEntry> {
  const all = await listAgents({ projectId }, session.at);
  const byName = ({ name }: AgentEntry) => name.toLowerCase() === wanted.toLowerCase();
  return only(named(all, wanted) ?? all.filter(byName), 'agent', wanted, all);
}

/** Finds a repository of the project by its id, a unique end of it, or its name. */
export async function findRepository(session: Session, projectId: string, wanted: string): Promise<RepositoryEntry> {
  const all = await listRepositories({ projectId }, session.at);
  const byName = ({ name, url }: RepositoryEntry) => name === wanted || url.endsWith(`/${wanted}`);
  return only(named(all, wanted) ?? all.filter(byName), 'repository', wanted, all);
}

function named<T extends { id: string }>(all: T[], wanted: string): T[] | undefined {
  const found = all.filter(({ id }) => id === wanted || atEnd(id, wanted));
  return found.length === 0 ? undefined : found;
}

function only<T extends { id: string; name: string }>(found: T[], kind: string, wanted: string, all: T[]): T {
  const [one, another] = found;
  const list = (them: T[]) => them.map(({ name, id }) => `  ${name}  ${id}`).join('\n');
  if (one === undefined)
    throw new CommandFailed(`There is no ${kind} ${wanted} in this project. There are:\n${list(all)}`);
  if (another !== undefined) throw new UsageError(`${wanted} is not unique. Give one of these ids:\n${list(found)}`);
  return one;
}
