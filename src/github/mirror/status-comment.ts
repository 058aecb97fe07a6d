import { budgetText } from '../../domain/budget.ts';
import { mayName } from '../../domain/private-content.ts';
import { proofSentence } from '../../domain/proof/proof.ts';
import { remedyFor } from '../../domain/remedies.ts';
import { liveStatuses } from '../../domain/run.ts';
import type { TaskStatus } from '../../domain/task.ts';
import { harmlessLine } from '../../domain/text/sanitize.ts';
import { clipped, folded, isCommandTable } from '../comment-parts.ts';
import { attentionSection } from './attention-section.ts';
import { withTaskNames } from './task-names.ts';
import type { PictureOfRun, TaskPicture } from './task-picture.ts';

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
    failure(task),
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
  if (task.costUsd !== null) rows.push(['Cost', `$${task.costUsd.toFixed(2)}`]);
  return ['| | |', '| --- | --- |', ...rows.map(([name, value]) => `| **${name}** | ${cell(value)} |`)];
}

function watchText({ status }: PictureOfRun): string {
  return liveStatuses.includes(status) ? 'Watch this run' : 'View this run';
}

function progress(task: TaskPicture): string[] {
  if (task.run?.status !== 'running' || task.steps.length === 0) return [];
  const steps = task.steps.map(({ at, text }) => `- \`${clock(at)}\` ${safe(task, text, 200)}`);
  return [`**Now:** ${safe(task, task.steps.at(-1)?.text ?? '', 200)}`, '', ...folded('Steps', steps)];
}

function failure(task: TaskPicture): string[] {
  if (task.failure === null) return [];
  const { category, message } = task.failure;
  return [`> **Failed (${category})**: ${safe(task, message)}`, `> ${remedyFor(task.failure)}`];
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
  return task.proof === null ? [] : [safe(task, proofSentence(task.proof), 2000)];
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
  const line = (run: PictureOfRun) => `- ${runText(run)}${run.costUsd === null ? '' : `, $${run.costUsd.toFixed(2)}`}`;
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
