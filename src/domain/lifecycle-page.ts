import type { Machine } from './machine.ts';
import { type SprintFacts, sprintMachine, sprintStatuses } from './sprint.ts';
import { type TaskFacts, taskMachine, taskStatuses } from './task.ts';
import { wizardMachine, wizardStatuses } from './wizard.ts';

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
const noSprintFits: SprintFacts = {
  otherActive: 'sprint_…',
  unfinishedTasks: ['task_…'],
  carriesOver: false,
  isForced: false,
};

/** docs/lifecycle.md: the tables of tasks, sprints and planning sessions as Markdown. */
export function lifecyclePage(): string {
  return `# Lifecycles

Printed from the tables in \`src/domain/\` by \`npm run docs\`; a test holds that they are current. An event without a row for
the status is refused with 409 when a person asked for it, and changes nothing when GitHub or a run reported it.

## A task

Statuses: ${taskStatuses.join(', ')} (\`task.ts\`).

${table(taskMachine, [nothingFits, nothingRuns])}

## A sprint

Statuses: ${sprintStatuses.join(', ')} (\`sprint.ts\`).

${table(sprintMachine, [noSprintFits])}

## A planning session

Statuses: ${wizardStatuses.join(', ')} (\`wizard.ts\`).

${table(wizardMachine, [])}
`;
}

/** The rows of a machine; `against` are facts under which its checks say what they want. */
function table<S extends string, E extends string, F>(machine: Machine<S, E, F>, against: F[]): string {
  const rows = machine.map(({ on, from, to, because, unless }) => {
    const reasons = (unless ?? []).map((check) => against.map(check).find((reason) => reason !== undefined) ?? '');
    const next = because ?? (typeof to === 'function' ? '' : to);
    return `| ${on.replace('_', ' ')} | ${from.join(', ')} | ${next} | ${reasons.map(rule).join('; ')} |`;
  });
  return `| event | from | to | refused unless it |
| --- | --- | --- | --- |
${rows.join('\n')}`;
}

/** A reason without what was found: the rule itself. */
function rule(reason: string): string {
  return reason.replace(/,? found .*$/, '').replace(/;.*$/, '');
}
