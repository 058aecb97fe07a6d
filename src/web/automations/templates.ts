import type { Automation } from '../api.ts';

/** What an automation begins with in the form. */
export interface Template {
  name: string;
  on: Automation['on'];
  title: string;
  description: string;
  start: boolean;
}

/** Returns the time zone of the person. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns automations that many projects want. Those that begin with words of strangers wait for a person. */
export const templates = (timezone: string): Template[] => [
  {
    name: 'Nightly dependency update',
    on: { cron: '0 3 * * 1-5', timezone },
    title: 'Update dependencies ({{ date }})',
    description:
      'Update the dependencies within the version ranges that the project allows. Read the changelogs of what changes, run all checks, and repair what the updates break. Change nothing if everything is up to date.',
    start: true,
  },
  {
    name: 'Flaky tests',
    on: { cron: '0 4 * * 6', timezone },
    title: 'Find and repair flaky tests ({{ date }})',
    description:
      'Checks whose result differed between two tries on the same files:\n{{ flaky }}\n\nRun these tests several times, also in another order; if there are none, run all. Find those whose result changes. Repair the cause of the worst one. Do not skip it, and do not only repeat it or raise its time limit.',
    start: true,
  },
  {
    name: 'Weekly digest',
    on: { cron: '0 16 * * 5', timezone },
    title: 'Digest of the week ({{ date }})',
    description:
      'Write a digest of the last seven days for people who did not follow: what was merged and why it matters, and which decisions were taken. Add it as a file to the folder where the documentation has such notes. At most one page.',
    start: true,
  },
  {
    name: 'Triage of new issues',
    on: { event: 'issue.opened' },
    title: 'Triage {{ issue.title }}',
    description:
      'Find out whether issue {{ issue.number }} describes a mistake that can be reproduced, and where its cause is. Write a test that shows it, if there is one.\n\nIts text:\n{{ issue.body }}',
    start: false,
  },
  {
    name: 'CI repair on main',
    on: { event: 'checks.failed', branch: 'main' },
    title: 'Repair the checks on main',
    description:
      'The checks of commit {{ checks.commit }} failed, first {{ checks.name }}. Find the cause and repair it. If the cause is not in this repository, change nothing and say where it is.',
    start: true,
  },
];
