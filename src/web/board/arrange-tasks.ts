import { useState } from 'react';
import { isForPerson } from '../../domain/waiting.ts';
import type { TaskCard } from '../api.ts';
import { priorityNames, taskStatusNames } from '../display/names.ts';
import { storeText } from '../frame/personal-storage.ts';

type Status = TaskCard['status'];

/** The columns of the board, from left to right. */
export const columns = Object.keys(taskStatusNames) as Status[];

/** The states that tasks can be filtered by, besides their status. */
export const stateFilters = [
  { id: 'failed', name: 'Failed' },
  { id: 'running', name: 'Running' },
  { id: 'queued', name: 'Queued' },
  { id: 'waiting', name: 'Waiting for a person' },
];

/** The orders of the tasks in a column. Without one, the newest task comes first, as in the service's list. */
export const sortings = [
  { id: 'priority', name: 'Most urgent first' },
  { id: 'oldest', name: 'Oldest first' },
  { id: 'updated', name: 'Recently changed' },
  { id: 'resting', name: 'Longest in their column' },
  { id: 'cost', name: 'Most expensive' },
  { id: 'title', name: 'Title' },
];

const urgencies = Object.keys(priorityNames);
const orders: Record<string, (a: TaskCard, b: TaskCard) => number> = {
  priority: (a, b) => urgencies.indexOf(a.priority) - urgencies.indexOf(b.priority),
  // Times have a fixed format, so comparing them as text sorts them by time. This is much faster than localeCompare.
  oldest: (a, b) => compare(a.createdAt, b.createdAt),
  updated: (a, b) => compare(b.updatedAt, a.updatedAt),
  resting: (a, b) => compare(a.statusSince, b.statusSince),
  cost: (a, b) => (b.costUsd ?? -1) - (a.costUsd ?? -1),
  title: (a, b) => titles.compare(a.title, b.title),
};
const titles = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Returns the tasks that match the filters, by column and in the order that `params` ask for. A search for `text` matches
 * titles, the ends of ids, and the tasks that the service has `found`.
 */
export function arrangeTasks(
  tasks: TaskCard[],
  params: URLSearchParams,
  text: string,
  found: ReadonlySet<string> = new Set(),
): Map<Status, TaskCard[]> {
  const [search, agent, sprint] = [text.trim().toLowerCase(), params.get('agent'), params.get('sprint')];
  const [state, person, priority] = [params.get('state'), params.get('person'), params.get('priority')];
  const byColumn = new Map<Status, TaskCard[]>(columns.map((status) => [status, []]));
  for (const task of tasks) {
    const isMatch =
      matches(task.owner, agent) &&
      matches(task.sprintId, sprint) &&
      matches(task.responsible, person) &&
      matches(task.priority, priority) &&
      isInState(task, state) &&
      (search === '' || isFound(task, search) || found.has(task.id));
    if (isMatch) byColumn.get(task.status)?.push(task);
  }
  const order = orders[params.get('sort') ?? ''];
  if (order !== undefined) for (const column of byColumn.values()) column.sort(order);
  return byColumn;
}

/**
 * Returns whether a value matches a filter. Without a filter every value does; the filter `none` matches unset values.
 */
function matches(value: string | null, filter: string | null): boolean {
  return filter === null || (filter === 'none' ? value === null : value === filter);
}

const isFound = ({ title, id }: TaskCard, search: string) =>
  title.toLowerCase().includes(search) || id.endsWith(search);

function isInState({ failure, run }: TaskCard, state: string | null): boolean {
  if (state === null) return true;
  if (state === 'failed') return failure !== null;
  if (state === 'waiting') return run?.status === 'waiting' && (run.waitReason === null || isForPerson(run.waitReason));
  return run?.status === state;
}

/** The columns that a person has folded or unfolded. */
type FoldChoices = Partial<Record<Status, 'folded' | 'open'>>;

/** Returns whether a column is shown as a narrow strip. Empty columns are, unless the person decided otherwise. */
export function isFolded(choices: FoldChoices, status: Status, count: number): boolean {
  const choice = choices[status];
  return choice === undefined ? count === 0 : choice === 'folded';
}

/** Returns the choices after the person has folded or unfolded a column. A choice that equals the default is not stored. */
export function toggled(choices: FoldChoices, status: Status, count: number): FoldChoices {
  const { [status]: _former, ...others } = choices;
  const next = isFolded(choices, status, count) ? 'open' : 'folded';
  return isFolded(others, status, count) === (next === 'folded') ? others : { ...others, [status]: next };
}

/** Reads stored choices and ignores invalid ones. */
export function parseChoices(text: string | null): FoldChoices {
  try {
    const stored = JSON.parse(text ?? '{}') as Record<string, unknown>;
    const isChoice = (status: string) => stored[status] === 'folded' || stored[status] === 'open';
    return Object.fromEntries(columns.filter(isChoice).map((status) => [status, stored[status]]));
  } catch {
    return {};
  }
}

const storageKey = (projectId: string) => `deckhand-folded-${projectId}`;

/**
 * Keeps the folded columns of a project's board. They are stored in the browser, because they depend on the width of the
 * screen.
 */
export function useFolding(projectId: string) {
  const [choices, setChoices] = useState(() => parseChoices(localStorage.getItem(storageKey(projectId))));
  const toggle = (status: Status, count: number) => {
    const next = toggled(choices, status, count);
    setChoices(next);
    storeText(localStorage, storageKey(projectId), JSON.stringify(next));
  };
  return { choices, toggle };
}
