import type { PullStatus } from '../../db/tables/task.ts';
import { budgetText, costText, type RunBudget } from '../../domain/budget.ts';
import { type Judged, markedProof } from '../../domain/proof/proof.ts';
import { type Failure, liveStatuses, type RunKind, type RunStatus, remedyFor } from '../../domain/run.ts';
import { mayName } from '../../domain/settings.ts';
import type { TaskStatus } from '../../domain/task.ts';
import { harmlessLine, harmlessText } from '../../domain/text/sanitize.ts';
import { type Attention, type RunPlan, readApproval, type WaitReason } from '../../domain/waiting.ts';
import type { Merging } from '../../repositories/merging/store.ts';
import { clipped, folded, isCommandTable } from '../comments.ts';
import { withTaskNames } from './task-names.ts';

/** Everything about a task that the mirror may show. The mirror uses nothing else. */
export interface TaskPicture {
  id: string;
  title: string;
  status: TaskStatus;
  agent: string | null;
  branchName: string | null;
  failure: Failure | null;
  /** What the run waits for; null when it does not wait. */
  attention:
    | (Pick<Attention, 'id' | 'reason' | 'text' | 'options'> & { plan?: Pick<RunPlan, 'files' | 'checks'> })
    | null;
  /** What GitHub does to merge its pull requests when they are ready; null when it does nothing. */
  merging: Pick<Merging, 'state' | 'reason'> | null;
  /** Why that was stopped, one sentence for each pull request. */
  dropped: string[];
  /** Why the service itself cancelled the run; null when it did not. */
  cancelledBecause: string | null;
  /** What the issue says, if that differs from the task. */
  issueText: { title: string; description: string } | null;
  budget: RunBudget | null;
  notice: string;
  /** How to call the tasks that the notice mentions, by their ids. */
  taskNames: Map<string, string>;
  run: PictureOfRun | null;
  /** The latest run was asked for a change and ended without one. */
  changedNothing?: boolean;
  /** Runs before this one, newest first. */
  earlier: PictureOfRun[];
  /** The latest lines of the log of the run, oldest first. */
  lines: { at: Date; text: string }[];
  subtasks: { id: string; title: string; status: TaskStatus; issueUrl: string | null; isPrivate: boolean }[];
  pulls: { url: string; number: number; repositoryName: string; status: PullStatus; isPrivate: boolean }[];
  handoff: { summary: string; nextSteps: string[] } | null;
  /** What the tests of the change prove; null while the latest run has no proof. */
  proof: Judged | null;
  costUsd: number | null;
  taskUrl: string;
  commandPrefix: string;
}

export interface PictureOfRun {
  /** The page on which people watch the run. */
  url: string;
  kind: RunKind;
  /** The turn after which a rewound run goes on. */
  rewoundTurn?: number | null;
  status: RunStatus;
  steps: number;
  startedAt: Date | null;
  finishedAt: Date | null;
  waitedSeconds: number;
  costUsd: number | null;
}

/** What a run waits for, as the status comment and the check run say it. */
export const waitWords: Record<WaitReason, string> = {
  plan: '⏸️ Waiting for approval of the plan',
  question: '⏸️ Waiting for an answer',
  push: '⏸️ Waiting for approval of the change',
  paused: '⏸️ Paused',
  model: '⏸️ Waiting for the model',
  host: '⏸️ Waiting for a host',
};

/** Longer texts are cut. A question has at most this many characters, a plan at most five times as many. */
const lineChars = 4000;
const planChars = 20_000;

type Shown = NonNullable<TaskPicture['attention']>;

/** Says what a run waits for and what people can do about it. */
function attentionSection({ attention, commandPrefix: prefix }: TaskPicture): string[] {
  if (attention === null) return [];
  const words = waitWords[attention.reason];
  const next = `> ${nextSteps(attention.reason, prefix)}`;
  if (attention.reason === 'plan') return [`> **${words}**`, next, '', ...planLines(attention, prefix)];
  if (attention.reason === 'push') return [`> **${words}**`, ...changeLines(attention.text, prefix)];
  const line = (each: string) => harmlessLine(each, lineChars, prefix);
  const choices = attention.options.map((option, i) => `- [ ] ${i + 1}. ${line(option)}`);
  return [`> **${words}**: ${line(attention.text)}`, ...(choices.length === 0 ? [] : ['', ...choices, '']), next];
}

function planLines({ text, plan }: Shown, prefix: string): string[] {
  const lines = (title: string, items: string[] = []) =>
    items.length === 0 ? [] : ['', `**${title}**`, '', ...items.map((item) => `- ${harmlessLine(item, 500, prefix)}`)];
  return [
    harmlessText(text, planChars, prefix),
    ...lines('Files that will change', plan?.files),
    ...lines('Checks', plan?.checks),
  ];
}

/** At most this many changed files are listed. The task's page has all. */
const maxFiles = 50;

/** Says why a person is asked, what an approval does, and which files change. */
function changeLines(text: string, prefix: string): string[] {
  const { setup, expectations, findings, files } = readApproval(text);
  const why = expectations.map((sentence) => `> ${harmlessLine(sentence, 1000, prefix)}`);
  if (setup.length + findings.length === 0)
    return [...why, `> ${nextSteps('push', prefix)}`, '', ...fileLines(files, prefix)];
  const part = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : ['', `**${title}**`, '', ...lines.map((line) => `- ${harmlessLine(line, 500, prefix)}`)];
  return [
    ...why,
    ...(setup.length > 0 ? ['> Set-up of this change would run its code with the network of set-up.'] : []),
    ...(findings.length > 0 ? ['> A person has to allow what was found in this change.'] : []),
    `> ${afterApproval(`\`${prefix} approve\` allows that and pushes the change${setup.length > 0 ? ' if its checks pass' : ''}`, prefix)}`,
    ...part('Why', setup),
    ...part('Found in the change', findings),
    '',
    '**Changed files**',
    '',
    ...fileLines(files, prefix),
  ];
}

function fileLines(files: string[], prefix: string): string[] {
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : [];
  return [...files.slice(0, maxFiles).map((file) => `- ${harmlessLine(file, 300, prefix)}`), ...more];
}

function nextSteps(reason: WaitReason, prefix: string): string {
  switch (reason) {
    case 'model':
      return 'The run continues when the model answers again. It fails after waiting an hour in total.';
    case 'host':
      return `The run continues as soon as the host, or a worker that may do it, is available. \`${prefix} cancel\` ends the run.`;
    case 'paused':
      return `\`${prefix} resume\` continues the run.`;
    case 'question':
      return `\`${prefix} answer <number or text>\` answers; \`${prefix} cancel\` ends the run.`;
    case 'plan':
      return `\`${prefix} approve\` lets the agent carry it out; \`${prefix} revise <text>\` asks for another plan; \`${prefix} cancel\` ends the run.`;
    case 'push':
      return afterApproval(`\`${prefix} approve\` pushes it`, prefix);
  }
}

function afterApproval(approve: string, prefix: string): string {
  return `${approve}; \`${prefix} revise <text>\` asks for another change; \`${prefix} cancel\` ends the run. The task's page shows the change.`;
}

/** The first line of the status comment. We find the comment again by this line and its author. */
export const statusMarker = '<!-- deckhand:status -->';

export const statusWords: Record<TaskStatus, string> = {
  backlog: '🗂️ In the backlog',
  ready: '⏳ Ready to start',
  in_progress: '🛠️ In progress',
  in_review: '👀 In review',
  done: '✅ Done',
  waiting_on_subtasks: '🧩 Waiting on subtasks',
};

/** Renders the status comment of a task. In a public repository (`shownIn`), leaves out the names of private ones. */
export function statusComment(task: TaskPicture, shownIn: { isPrivate: boolean }): string {
  const sections = [
    [statusMarker, `### ${statusWords[task.status]}`],
    factTable(task, shownIn),
    progress(task),
    attentionSection(task),
    task.cancelledBecause === null ? [] : [`> **Cancelled**: ${safe(task, task.cancelledBecause)}`],
    mergingSection(task),
    failure(task),
    task.changedNothing ? ['> **Nothing changed**: the last revision ended without a change.'] : [],
    notice(task),
    otherText(task),
    proof(task),
    handoff(task),
    subtasks(task, shownIn),
    earlierRuns(task),
    [`<sub>[${task.id}](${task.taskUrl}) · \`${task.commandPrefix} help\` lists the commands</sub>`],
  ];
  return clipped(
    sections
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n'),
  );
}

/** Puts text by people and models on one line. Disables commands, mentions and markup in it. */
const safe = ({ commandPrefix }: TaskPicture, text: string, max = 500) => harmlessLine(text, max, commandPrefix);

function factTable(task: TaskPicture, shownIn: { isPrivate: boolean }): string[] {
  const rows: [string, string][] = [['Agent', task.agent === null ? 'none' : safe(task, task.agent, 100)]];
  if (task.run !== null) rows.push(['Run', `${runText(task.run)} · [${watchText(task.run)}](${task.run.url})`]);
  if (task.branchName !== null) rows.push(['Branch', `\`${task.branchName}\``]);
  for (const pull of task.pulls.filter((p) => mayName(p, shownIn)))
    rows.push(['Pull request', `[${pull.repositoryName}#${pull.number}](${pull.url}) (${pull.status})`]);
  if (task.budget !== null) rows.push(['Budget', `${budgetText(task.budget)} per run`]);
  if (task.costUsd !== null) rows.push(['Cost', costText(task.costUsd)]);
  return ['| | |', '| --- | --- |', ...rows.map(([name, value]) => `| **${name}** | ${cell(value)} |`)];
}

function watchText({ status }: PictureOfRun): string {
  return liveStatuses.includes(status) ? 'Watch this run' : 'View this run';
}

function progress(task: TaskPicture): string[] {
  if (task.run?.status !== 'running' || task.lines.length === 0) return [];
  const lines = task.lines.map(({ at, text }) => `- \`${clock(at)}\` ${safe(task, text, 200)}`);
  return [`**Now:** ${safe(task, task.lines.at(-1)?.text ?? '', 200)}`, '', ...folded('Steps', lines)];
}

function failure(task: TaskPicture): string[] {
  if (task.failure === null) return [];
  const { category, message } = task.failure;
  return [`> **Failed (${category})**: ${safe(task, message)}`, `> ${remedyFor(task.failure)}`];
}

/** Says that GitHub merges the pull requests when they are ready, or why it no longer does. */
function mergingSection(task: TaskPicture): string[] {
  const { merging, dropped, commandPrefix: prefix } = task;
  if (merging === null) return dropped.map((why) => `> **Not merged**: ${safe(task, why)}`);
  if (merging.state === 'queued') return [`> **🚦 In the merge queue**: ${safe(task, merging.reason)}`];
  return [
    `> **🚦 Waiting to be merged**: ${safe(task, merging.reason)}`,
    `> GitHub merges it when it is ready; \`${prefix} merge\` tries at once.`,
  ];
}

/** What the last command led to. The ids of tasks in a refusal are replaced after the text was made harmless. */
function notice(task: TaskPicture): string[] {
  if (task.notice === '') return [];
  if (isCommandTable(task.notice)) return [task.notice];
  return [`> ${withTaskNames(safe(task, task.notice, 1500), task.taskNames)}`];
}

/** Offers to update the task or the issue when they say different things. Neither is changed unasked. */
function otherText(task: TaskPicture): string[] {
  const { issueText, title, commandPrefix } = task;
  if (issueText === null) return [];
  const called = issueText.title === title ? '' : ` The task is called “${safe(task, title, 200)}”.`;
  const what = called === '' ? 'description' : 'title or description';
  return [
    `> The issue and the task differ in their ${what}.${called} \`${commandPrefix} update\` gives the task the text of the issue, and \`${commandPrefix} update issue\` gives the issue the text of the task.`,
  ];
}

function proof(task: TaskPicture): string[] {
  return task.proof === null ? [] : [safe(task, markedProof(task.proof), 2000)];
}

function handoff(task: TaskPicture): string[] {
  if (task.handoff === null || (task.run !== null && liveStatuses.includes(task.run.status))) return [];
  const { summary, nextSteps } = task.handoff;
  const next = nextSteps.slice(0, 20).map((step) => `- next: ${safe(task, step)}`);
  return ['**What was done**', '', safe(task, summary, 4000), ...(next.length > 0 ? ['', ...next] : [])];
}

function subtasks(task: TaskPicture, shownIn: { isPrivate: boolean }): string[] {
  const shown = task.subtasks.filter((s) => mayName(s, shownIn));
  if (shown.length === 0) return [];
  const line = ({ title, status, issueUrl }: (typeof shown)[number]) => {
    const link = issueUrl === null ? '' : ` ([issue](${issueUrl}))`;
    return `- [${status === 'done' ? 'x' : ' '}] ${safe(task, title, 200)}${link}`;
  };
  return ['**Subtasks**', '', ...shown.map(line)];
}

function earlierRuns({ earlier }: TaskPicture): string[] {
  if (earlier.length === 0) return [];
  const line = (run: PictureOfRun) => `- ${runText(run)}${run.costUsd === null ? '' : `, ${costText(run.costUsd)}`}`;
  return folded(`Earlier runs (${earlier.length})`, earlier.slice(0, 20).map(line));
}

function runText({ kind, rewoundTurn, status, steps, startedAt, finishedAt, waitedSeconds }: PictureOfRun): string {
  const name = rewoundTurn == null ? kind : `${kind} to turn ${rewoundTurn}`;
  const time =
    startedAt !== null && finishedAt !== null
      ? `, ${seconds(Math.max(0, finishedAt.getTime() - startedAt.getTime() - waitedSeconds * 1000))}`
      : '';
  return `${name}: ${status}, ${steps} ${steps === 1 ? 'step' : 'steps'}${time}`;
}

function clock(at: Date): string {
  return `${at.toISOString().slice(11, 19)} UTC`;
}

function seconds(ms: number): string {
  const s = Math.round(ms / 1000);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
}

/** Escapes pipes, which would end the cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
