import type { Task } from '../../api.ts';
import { actionsFor } from '../actions/task-actions.ts';

/** Returns whether the page of a task offers to merge it. */
export function isMergeable(task: Task): boolean {
  return actionsFor(task).includes('merge');
}
