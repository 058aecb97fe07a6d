import { type TaskFacts, taskMachine, taskStatuses } from './task.ts';

/** Facts under which every check of the table speaks, so that the page can quote them all. */
const nothingFits: TaskFacts = {
  owner: null,
  ownerMayWork: false,
  openDependencies: ['task_…'],
  repositoryOnGitHub: false,
  latestRun: undefined,
  liveRun: true,
  openPullRequests: 1,
  mergedPullRequests: 0,
  finishedUnchanged: false,
  isSubtask: true,
  splitByAgent: false,
  openSubtasks: 1,
};
const nothingRuns: TaskFacts = { ...nothingFits, liveRun: false };

/** docs/lifecycle.md: the task's table as Markdown. */
export function lifecyclePage(): string {
  const rows = taskMachine.map(({ on, from, to, because, unless }) => {
    const reasons = (unless ?? []).map((check) => check(nothingFits) ?? check(nothingRuns) ?? '');
    const next = typeof to === 'function' ? (because ?? '') : to;
    return `| ${on.replace('_', ' ')} | ${from.join(', ')} | ${next} | ${reasons.map(rule).join('; ')} |`;
  });
  return `# The lifecycle of a task

Printed from \`src/domain/task.ts\` by \`npm run docs\`; a test holds that it is current.

Statuses: ${taskStatuses.join(', ')}. An event without a row for the status is refused with 409 when a person asked for
it, and changes nothing when GitHub or a run reported it.

| event | from | to | refused unless it |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** A reason without what was found: the rule itself. */
function rule(reason: string): string {
  return reason.replace(/,? found .*$/, '').replace(/;.*$/, '');
}
