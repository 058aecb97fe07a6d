import type { TimelineEntry } from '../../api.ts';
import { taskStatusNames } from '../../display/names.ts';

/** What people do, and what agents do. Other types have a sentence of their own. */
const deeds: Record<string, string> = {
  created: 'created the task',
  start: 'started the task',
  retry: 'retried the task',
  revise: 'requested changes',
  cancel: 'cancelled the run',
  merge: 'merged the pull requests',
  answer: 'answered',
  say: 'wrote to the agent',
  resume: 'resumed the run',
  add_subtask: 'added a subtask',
  wait_plan: 'proposed a plan',
  wait_question: 'asked a question',
  wait_push: 'asked for approval of its change',
  run_succeeded: 'finished a run',
  run_failed: 'failed',
  run_cancelled: 'was stopped',
};

/** What happens without anybody doing it. */
const events: Record<string, string> = {
  pull_opened: 'Pull request opened:',
  pull_merged: 'Pull request merged:',
  finish: 'The task is done',
  close: 'The pull request was closed, so the task is ready again',
  reopen: 'The pull request was reopened',
  split: 'The task waits for its subtasks',
  join: 'All subtasks are done',
  cancel: 'The run was cancelled',
  start: 'The task was started',
  revise: 'The agent was asked for changes',
};

/** Says what an entry of the timeline is about: who did it, if anybody, and what. */
export function timelineText(entry: TimelineEntry): { who: string | null; what: string } {
  const { type, actor, agent, text } = entry;
  const who = actor?.login ?? agent;
  if (who === null) return { who, what: events[type] ?? (type === 'created' ? 'The task was created' : words(type)) };
  if (type === 'pushed') return { who, what: `pushed ${text}` };
  return { who, what: changeText(entry) ?? deeds[type] ?? words(type) };
}

/** Returns whether the text of an entry is quoted below it. */
export function isQuoted({ type, text }: TimelineEntry): boolean {
  return text !== '' && !['pushed', 'pull_opened', 'pull_merged'].includes(type);
}

/** Says what a person did where that depends on the fields that changed. */
function changeText({ type, changes }: TimelineEntry): string | undefined {
  switch (type) {
    case 'approve':
      return changes.attention?.[0] === 'push' ? 'approved the change' : 'approved the plan';
    case 'pause':
      return 'paused the run';
    case 'rewind':
      return `went back to ${String(changes.rewoundTo?.[1] ?? 'an earlier turn').replace(/ of run_\w+$/, '')}`;
    case 'update':
      return updateText(changes);
    default:
      return undefined;
  }
}

function updateText(changes: TimelineEntry['changes']): string {
  const status = taskStatusNames[changes.status?.[1] as keyof typeof taskStatusNames];
  if (status !== undefined) return `moved the task to ${status}`;
  const fields = Object.keys(changes).map((field) => fieldNames[field] ?? words(field).toLowerCase());
  return fields.length === 0 ? 'edited the task' : `changed the ${fields.join(', ')}`;
}

const fieldNames: Record<string, string> = {
  owner: 'agent',
  dependsOn: 'dependencies',
  repositoryId: 'repository',
  planFirst: 'plan setting',
  sprintId: 'sprint',
  issueTitle: 'issue',
};

/** Converts `add_subtask` or `addSubtask` to `Add subtask`. */
function words(type: string): string {
  const text = type.replace(/_|(?=[A-Z])/g, ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
