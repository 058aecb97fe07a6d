import type { Sprint } from '../api.ts';

/** Returns whether tasks can be added to a sprint. */
export function isOpenSprint({ status }: Pick<Sprint, 'status'>): boolean {
  return status === 'planning' || status === 'active';
}
