/** Returns what is wrong with the refs and dependencies of planned tasks, as a predicate; undefined if nothing is. */
export function orderProblem(tasks: { ref: string; dependsOn: string[] }[]): string | undefined {
  const byRef = new Map(tasks.map((task) => [task.ref, task]));
  if (byRef.size < tasks.length) return 'must each have a ref of their own';
  const unknown = tasks.flatMap((t) => t.dependsOn).find((ref) => !byRef.has(ref));
  if (unknown !== undefined)
    return `must depend only on each other: no task in this list has the ref ${unknown.slice(0, 100)}`;
  // Repeatedly removes the tasks that depend on no remaining task. Tasks that are never removed form a cycle.
  let left = tasks;
  for (;;) {
    const open = new Set(left.map((t) => t.ref));
    const next = left.filter((t) => t.dependsOn.some((ref) => open.has(ref)));
    if (next.length === 0) return undefined;
    if (next.length === left.length)
      return `must not depend on each other in a cycle: ${next.map((t) => t.ref.slice(0, 100)).join(', ')}`;
    left = next;
  }
}
