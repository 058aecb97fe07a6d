import type { Task } from '../api.ts';
import { taskStatusNames } from '../display/names.ts';

/** The columns of the board, from left to right. */
export const columns = Object.keys(taskStatusNames) as Task['status'][];

/** Returns the tasks that match the filters, by column. */
export function filterTasks(tasks: Task[], params: URLSearchParams, text: string): Map<Task['status'], Task[]> {
  const [search, agent, sprint] = [text.trim().toLowerCase(), params.get('agent'), params.get('sprint')];
  const onlyFailed = params.get('state') === 'failed';
  const byColumn = new Map<Task['status'], Task[]>(columns.map((status) => [status, []]));
  for (const task of tasks) {
    const isMatch =
      matches(task.owner, agent) &&
      matches(task.sprintId, sprint) &&
      (!onlyFailed || task.failure !== null) &&
      (search === '' || searchedText(task).includes(search));
    if (isMatch) byColumn.get(task.status)?.push(task);
  }
  return byColumn;
}

const searchedTexts = new WeakMap<Task, string>();

/** Returns the title and the description of a task in lower case. They are converted once, not with every keystroke. */
function searchedText(task: Task): string {
  const text = searchedTexts.get(task) ?? `${task.title}\n${task.description}`.toLowerCase();
  searchedTexts.set(task, text);
  return text;
}

/**
 * Returns whether a value matches a filter. Without a filter every value does; the filter `none` matches unset values.
 */
function matches(value: string | null, filter: string | null): boolean {
  return filter === null || (filter === 'none' ? value === null : value === filter);
}
