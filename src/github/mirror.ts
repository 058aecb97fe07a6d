import type { PullStatus } from '../db/work-tables.ts';
import { harmlessLine } from '../domain/quoted.ts';
import { type Failure, type RunKind, type RunStatus, remedies } from '../domain/run.ts';
import type { TaskStatus } from '../domain/task.ts';

/** All that GitHub shows of a task; the mirror's only input. */
export interface TaskPicture {
  id: string;
  title: string;
  status: TaskStatus;
  agent: string | null;
  branchName: string | null;
  failure: Failure | null;
  notice: string;
  run: PictureOfRun | null;
  /** Runs before this one, newest first. */
  earlier: PictureOfRun[];
  /** What the run did last, oldest first. */
  steps: { at: Date; text: string }[];
  subtasks: { id: string; title: string; status: TaskStatus; issueUrl: string | null; isPrivate: boolean }[];
  pulls: { url: string; number: number; repositoryName: string; status: PullStatus; isPrivate: boolean }[];
  handoff: { summary: string; nextSteps: string[] } | null;
  costUsd: number | null;
  taskUrl: string;
  commandPrefix: string;
}

interface PictureOfRun {
  kind: RunKind;
  status: RunStatus;
  steps: number;
  startedAt: Date | null;
  finishedAt: Date | null;
  costUsd: number | null;
}

export const labelOf: Record<TaskStatus, string> = {
  backlog: 'agent:backlog',
  ready: 'agent:ready',
  in_progress: 'agent:in-progress',
  in_review: 'agent:in-review',
  done: 'agent:done',
  waiting_on_subtasks: 'agent:waiting',
};
export const failedLabel = 'agent:failed';
/** The labels that are ours to put on and take off; people's own are never touched. */
export const ownLabels = new Set([...Object.values(labelOf), failedLabel]);

/** The first line of the status comment; by it and its author the comment is found again. */
export const statusMarker = '<!-- deckhand:status -->';

const maxComment = 60_000;

/** A check run as GitHub takes it; `conclusion` is there when nothing runs. */
export interface WantedCheck {
  status: 'queued' | 'in_progress' | 'completed';
  conclusion?: 'success' | 'failure' | 'neutral' | 'cancelled';
  title: string;
  summary: string;
  actions: { label: string; description: string; identifier: 'retry' | 'cancel' }[];
}

export interface Wanted {
  labels: string[];
  comment: string;
  check: WantedCheck;
  /** Changes of this are shown at once, all else at most once a minute. */
  essence: string;
}

/** What an issue or pull request should show of a task; pure. `isPublic`: nothing private may be named there. */
export function wanted(task: TaskPicture, isPublic: boolean): Wanted {
  const labels = [labelOf[task.status], ...(task.failure === null ? [] : [failedLabel])];
  const { status, failure, notice, run, pulls } = task;
  const essence = JSON.stringify([
    status,
    failure,
    notice,
    run?.status,
    run?.kind,
    pulls.map((p) => [p.number, p.status]),
  ]);
  return { labels, comment: clipped(comment(task, isPublic)), check: check(task, isPublic), essence };
}

const statusWords: Record<TaskStatus, string> = {
  backlog: '🗂️ In the backlog',
  ready: '⏳ Ready to start',
  in_progress: '🛠️ In progress',
  in_review: '👀 In review',
  done: '✅ Done',
  waiting_on_subtasks: '🧩 Waiting on subtasks',
};

function comment(task: TaskPicture, isPublic: boolean): string {
  const safe = (text: string, max = 500) => harmlessLine(text, max, task.commandPrefix);
  const lines = [statusMarker, `### ${statusWords[task.status]}`, ''];
  const rows: [string, string][] = [['Agent', task.agent === null ? 'none' : safe(task.agent, 100)]];
  if (task.run !== null) rows.push(['Run', runText(task.run)]);
  if (task.branchName !== null) rows.push(['Branch', `\`${task.branchName}\``]);
  for (const pull of task.pulls.filter((p) => !isPublic || !p.isPrivate))
    rows.push(['Pull request', `[${pull.repositoryName}#${pull.number}](${pull.url}) (${pull.status})`]);
  if (task.costUsd !== null) rows.push(['Cost', `$${task.costUsd.toFixed(2)}`]);
  lines.push('| | |', '| --- | --- |', ...rows.map(([name, value]) => `| **${name}** | ${cell(value)} |`), '');
  if (task.run?.status === 'running' && task.steps.length > 0) {
    lines.push(`**Now:** ${safe(task.steps.at(-1)?.text ?? '', 200)}`, '');
    lines.push('<details><summary>Steps</summary>', '');
    for (const { at, text } of task.steps) lines.push(`- \`${clock(at)}\` ${safe(text, 200)}`);
    lines.push('', '</details>', '');
  }
  if (task.failure !== null)
    lines.push(
      `> **Failed (${task.failure.category})**: ${safe(task.failure.message)}`,
      `> ${remedies[task.failure.category]}`,
      '',
    );
  if (task.notice !== '') lines.push(`> ${safe(task.notice, 1500)}`, '');
  if (task.handoff !== null && task.run?.status !== 'running') {
    lines.push('**What was done**', '', safe(task.handoff.summary, 4000), '');
    for (const step of task.handoff.nextSteps.slice(0, 20)) lines.push(`- next: ${safe(step)}`);
    lines.push('');
  }
  const subtasks = task.subtasks.filter((s) => !isPublic || !s.isPrivate);
  if (subtasks.length > 0) {
    lines.push('**Subtasks**', '');
    for (const { title, status, issueUrl } of subtasks)
      lines.push(
        `- [${status === 'done' ? 'x' : ' '}] ${safe(title, 200)}${issueUrl === null ? '' : ` ([issue](${issueUrl}))`}`,
      );
    lines.push('');
  }
  if (task.earlier.length > 0) {
    lines.push(`<details><summary>Earlier runs (${task.earlier.length})</summary>`, '');
    for (const run of task.earlier.slice(0, 20))
      lines.push(`- ${runText(run)}${run.costUsd === null ? '' : `, $${run.costUsd.toFixed(2)}`}`);
    lines.push('', '</details>', '');
  }
  lines.push(`<sub>[${task.id}](${task.taskUrl}) · \`${task.commandPrefix} help\` lists the commands</sub>`);
  return lines.join('\n');
}

function runText({ kind, status, steps, startedAt, finishedAt }: PictureOfRun): string {
  const time =
    startedAt !== null && finishedAt !== null ? `, ${seconds(finishedAt.getTime() - startedAt.getTime())}` : '';
  return `${kind}: ${status}, ${steps} ${steps === 1 ? 'step' : 'steps'}${time}`;
}

function clock(at: Date): string {
  return `${at.toISOString().slice(11, 19)} UTC`;
}

/** A comment that is too long loses its end, and whatever that leaves open is closed. */
function clipped(text: string): string {
  if (text.length <= maxComment) return text;
  return `${text.slice(0, maxComment - 100)}\n\n</details>\n\n… (cut)`;
}

function check(task: TaskPicture, isPublic: boolean): WantedCheck {
  const { run, failure } = task;
  const isLive = run?.status === 'queued' || run?.status === 'running';
  const summary = clipped(comment(task, isPublic)).split('\n').slice(2).join('\n');
  const actions: WantedCheck['actions'] = [];
  if (isLive) actions.push({ label: 'Cancel', description: 'Stop the agent; the branch stays', identifier: 'cancel' });
  else if (run?.status === 'failed' || run?.status === 'cancelled')
    actions.push({ label: 'Retry', description: 'Let the agent go on from here', identifier: 'retry' });
  const title = failure === null ? statusWords[task.status] : `Failed (${failure.category})`;
  if (isLive) return { status: run.status === 'queued' ? 'queued' : 'in_progress', title, summary, actions };
  const conclusion =
    failure !== null ? 'failure' : run?.status === 'cancelled' ? 'cancelled' : run === null ? 'neutral' : 'success';
  return { status: 'completed', conclusion, title, summary, actions };
}

function seconds(ms: number): string {
  const s = Math.round(ms / 1000);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
}

/** A pipe would end the cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
