import type { Automation } from '../api.ts';

export const eventNames = {
  'issue.opened': 'an issue is opened',
  'issue.labeled': 'an issue gets a label',
  'pull_request.opened': 'a pull request is opened',
  'pull_request.labeled': 'a pull request gets a label',
  'checks.failed': 'checks fail',
  'release.published': 'a release is published',
  push: 'somebody pushes',
} as const;

/** Says when an automation makes a task. */
export function whenText({ cron, timezone, event, label, author, branch }: Automation['on']): string {
  if (event === undefined) return `At ${cron} (${timezone})`;
  const filters = [
    label === undefined ? [] : [`with the label ${label}`],
    author === undefined ? [] : [`by ${author}`],
    branch === undefined ? [] : [`on ${branch}`],
  ].flat();
  return [`When ${eventNames[event]}`, ...filters].join(', ');
}

/** Returns a time in words, such as `Friday, 27 November, 03:00`. */
function inZone(at: string, timeZone: string): string {
  const format = { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' } as const;
  return new Date(at).toLocaleString(undefined, { ...format, timeZone });
}

/** Says when something is due, in the zone of the person, and in that of the automation if it is another one. */
export function dueText(at: string, own: string, zone = own): string {
  const here = inZone(at, own);
  const there = inZone(at, zone);
  return here === there ? here : `${here} (${there} in ${zone.replaceAll('_', ' ')})`;
}
