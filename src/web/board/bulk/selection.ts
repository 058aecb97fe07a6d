/** Each selected task is a request of its own to the service, which limits how many a person may start in a minute. */
export const maxSelected = 100;

export interface Selection {
  ids: ReadonlySet<string>;
  toggle(id: string): void;
  replace(ids: Iterable<string>): void;
}

/** Returns the selection after a task was selected or deselected; undefined when it is full. */
export function withToggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> | undefined {
  const next = new Set(ids);
  if (next.delete(id)) return next;
  return next.size >= maxSelected ? undefined : next.add(id);
}
