import { plural } from '../../display/formats.ts';

/** What happened to one of several tasks. */
export interface Result {
  id: string;
  title: string;
  /** Why the service refused; undefined when it did not. */
  reason?: string;
}

/** Says how many of several tasks were changed: `7 started, 2 refused`. `done` is a past participle. */
export function outcomeText(done: string, results: readonly Result[]): string {
  const refused = results.filter(({ reason }) => reason !== undefined).length;
  const changed = results.length - refused;
  if (refused === 0) return `${plural(changed, 'task')} ${done}`;
  return `${changed} ${done}, ${refused} refused`;
}

/** Returns the refused tasks by reason, the most frequent first. */
export function refusalsByReason(results: readonly Result[]): { reason: string; tasks: Result[] }[] {
  const byReason = new Map<string, Result[]>();
  for (const result of results) {
    if (result.reason === undefined) continue;
    byReason.set(result.reason, [...(byReason.get(result.reason) ?? []), result]);
  }
  return [...byReason].map(([reason, tasks]) => ({ reason, tasks })).sort((a, b) => b.tasks.length - a.tasks.length);
}

/** Replaces the ids of tasks in a reason with their titles. */
export function withTitles(reason: string, tasks: readonly { id: string; title: string }[]): string {
  const titles = new Map(tasks.map(({ id, title }) => [id, `“${title.slice(0, 60)}”`]));
  return reason.replace(/\btask_\w+/g, (id) => titles.get(id) ?? id);
}
