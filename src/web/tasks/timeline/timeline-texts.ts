import { infiniteQueryOptions } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { shownValue } from '../../audit/record-texts.ts';
import { sentenceCase, taskStatusNames } from '../../display/names.ts';

/** What a person or an agent did, after their name. Types that are not listed here or below are spelled out. */
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
  undo: 'asked to undo the task',
  add_subtask: 'added a subtask',
  remove_subtask: 'removed a subtask',
  wait_plan: 'proposed a plan',
  wait_question: 'asked a question',
  wait_push: 'asked for approval of its change',
  run_succeeded: 'finished a run',
  run_failed: 'could not finish a run',
  run_cancelled: 'was stopped',
};

/** What happened, where nobody did it, no agent was needed or the agent was deleted. */
const events: Record<string, string> = {
  run_succeeded: 'The run finished',
  run_failed: 'The run failed',
  run_cancelled: 'The run was stopped',
  created: 'The task was created',
  pull_opened: 'Pull request opened:',
  pull_merged: 'Pull request merged:',
  finish: 'The task is done',
  close: 'The pull request was closed, so the task is ready again',
  reopen: 'The pull request was reopened',
  wait_plan: 'A plan was proposed',
  wait_question: 'A question was asked',
  wait_push: 'A change waits for approval',
  split: 'The task waits for its subtasks',
  join: 'All subtasks are done',
  cancel: 'The run was cancelled',
  start: 'The task was started',
  revise: 'A run for the requested changes was queued',
  undo: 'An undo was started',
  issue_refused: 'GitHub refused to create the issue',
  comment_refused: 'GitHub refused the status comment',
  link_refused: 'GitHub refused to link issues',
};

/** Returns the sentence of an entry in two parts: who acted, null if nobody did, and what happened. */
export function timelineText(entry: api.TimelineEntry): { who: string | null; what: string } {
  const { type, actor, agent, text } = entry;
  const who = actor?.login ?? agent;
  if (type === 'pushed') return { who, what: `${who === null ? 'Pushed' : 'pushed'} ${text}` };
  // Without a text, it is the run for what a person asked for before.
  if (who === null && type === 'revise' && text !== '') return { who: 'Deckhand', what: 'requested changes' };
  if (who === null) return { who, what: events[type] ?? sentenceCase(words(type)) };
  return { who, what: changeText(entry) ?? deeds[type] ?? `did “${words(type)}”` };
}

/**
 * Returns whether the text of an entry is quoted below it. `failure`, which the page shows above, is not repeated for each run that
 * failed with it, nor is one with which the notes of the run begin.
 */
export function isQuoted({ type, text, handoff }: api.TimelineEntry, failure?: string): boolean {
  if (type === 'run_failed' && handoff?.summary.includes(text)) return false;
  if (type === 'run_failed' && text === failure) return false;
  return text !== '' && !['pushed', 'pull_opened', 'pull_merged'].includes(type);
}

/** The page quotes this many characters of a request above the log. The timeline has all of it. */
const maxAsked = 300;
/** A run may be stored this much earlier than the record of its request, because both belong to one operation. */
const atOnceMs = 5000;

/** Returns who asked for a revision or a rewind, and what they want. Undefined for other runs, and if the entries do not say it. */
export function askedFor(
  { kind, createdAt }: Pick<api.Run, 'kind' | 'createdAt'>,
  entries: api.TimelineEntry[],
): { who: string; text: string } | undefined {
  const until = Date.parse(createdAt) + atOnceMs;
  if (!isAskedFor(kind)) return undefined;
  const entry = entries.find(({ type, text, at }) => type === kind && text !== '' && Date.parse(at) <= until);
  if (entry === undefined) return undefined;
  const { text } = entry;
  const shown = text.length <= maxAsked ? text : `${text.slice(0, maxAsked).toWellFormed()}…`;
  return { who: timelineText(entry).who ?? 'Deckhand', text: shown };
}

/** Returns whether people say in their own words what a run of this kind is to do. */
export const isAskedFor = (kind: api.Run['kind']) => kind === 'revise' || kind === 'rewind';

/** Returns whether the text of an entry is Markdown: what an agent wrote for people, here as in what the run waits for. */
export function isMarkdown({ type, changes }: api.TimelineEntry): boolean {
  return ['wait_plan', 'wait_question'].includes(type) || changes.changedPlan !== undefined;
}

/** Says what a person did where that depends on the fields that changed. */
function changeText({ type, changes }: api.TimelineEntry): string | undefined {
  switch (type) {
    case 'approve':
      if (changes.changedPlan !== undefined) return 'changed the plan and approved it';
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

const list = new Intl.ListFormat('en');

function updateText(changes: api.TimelineEntry['changes']): string {
  const status = taskStatusNames[changes.status?.[1] as keyof typeof taskStatusNames];
  if (status !== undefined) return `moved the task to ${status}`;
  const budget = changes.budget && ` to ${shownValue('budget', changes.budget[1])}`;
  const fields = Object.keys(changes).map(
    (field) => (fieldNames[field] ?? words(field)) + ((field === 'budget' && budget) || ''),
  );
  return fields.length === 0 ? 'edited the task' : `changed the ${list.format(fields)}`;
}

const fieldNames: Record<string, string> = {
  owner: 'agent',
  dependsOn: 'dependencies',
  repositoryId: 'repository',
  planFirst: 'plan setting',
  sprintId: 'sprint',
  issueTitle: 'issue',
};

/** Converts `add_subtask` or `addSubtask` to `add subtask`. */
function words(type: string): string {
  return type.replace(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

/** Entries that are fetched at once. */
const pageSize = 20;

/** What happened to a task, newest first. An entry that newer ones move to the next page is included once. */
export const timeline = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['timeline', taskId],
    queryFn: ({ pageParam: offset }) => api.listTaskTimeline(taskId, { limit: pageSize, offset }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
    select: ({ pages }) => [...new Map(pages.flat().map((entry) => [entry.id, entry])).values()],
  });
