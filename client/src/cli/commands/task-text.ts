import type { PullRequest, Run, Task } from '../../api.ts';
import { shown, shownLine } from '../terminal.ts';

/** Returns a task in one line. */
export const taskLine = ({ id, status, title }: Task): string =>
  `${id}  ${status.padEnd(11)}  ${shownLine(title, 100)}`;

/** Returns what a run of the task waits for, and what a person can do. */
export function attentionText({ id, attention }: Task): string {
  if (attention === null) return '';
  const options = attention.options.map((option, i) => `  ${i + 1}. ${shownLine(option, 300)}`);
  const next: Partial<Record<typeof attention.reason, string>> = {
    plan: `deckhand task approve ${id}, or deckhand task revise ${id} "<what to change>"`,
    push: `deckhand task approve ${id}, or deckhand task revise ${id} "<what to change>"`,
    question: `deckhand task say ${id} "<answer, or the number of an option>"`,
    paused: `deckhand task resume ${id}`,
  };
  const step = next[attention.reason];
  return [
    `Waits (${attention.reason}):${attention.text.includes('\n') ? '\n' : ' '}${shown(attention.text)}`,
    ...options,
    ...(step === undefined ? [] : [`→ ${step}`]),
  ].join('\n');
}

/** Returns how a task stands after its newest run has ended, or that it has none. */
export function outcomeText(task: Task, run?: Run): string {
  const { failure, status, prUrl } = task;
  if (failure !== null)
    return `Failed (${failure.category}): ${shown(failure.message)}\n→ deckhand task retry ${task.id}`;
  if (status === 'in_review' && prUrl !== null)
    return `In review: ${shownLine(prUrl, 500)}\n→ deckhand task merge ${task.id}`;
  if (run?.status === 'cancelled') return `Cancelled: ${taskLine(task)}`;
  if (task.runCount === 0 && (status === 'backlog' || status === 'ready'))
    return `${taskLine(task)}\nNot started.\n→ deckhand task start ${task.id}`;
  return taskLine(task);
}

/** What is shown of a task beside its own fields. */
interface AboutTask {
  pullRequests: PullRequest[];
  agent?: string;
  /** What speaks against a merge. */
  problems: string[];
}

export function taskText(task: Task, { pullRequests, agent = 'none', problems }: AboutTask): string {
  const { description, branchName, base, runCount, failure, merging, dependsOn, issueUrl } = task;
  return [
    taskLine(task),
    ...(description === '' ? [] : ['', shown(description), '']),
    `Agent: ${shownLine(agent)}; runs: ${runCount}`,
    ...(issueUrl === null ? [] : [`Issue: ${shownLine(issueUrl, 500)}`]),
    ...(dependsOn.length === 0 ? [] : [`Depends on: ${dependsOn.join(', ')}`]),
    ...(branchName === null
      ? []
      : [`Branch: ${shownLine(branchName)}${base === null ? '' : ` into ${shownLine(base)}`}`]),
    ...pullRequests.map(({ prUrl, status }) => `Pull request: ${shownLine(prUrl, 500)} (${status})`),
    ...problems.map((problem) => `Before a merge: ${shownLine(problem, 500)}`),
    ...(merging === null ? [] : [`Merging: ${merging.state}. ${shownLine(merging.reason, 300)}`]),
    ...(failure === null ? [] : [outcomeText(task)]),
    ...(task.attention === null ? [] : [attentionText(task)]),
  ].join('\n');
}
