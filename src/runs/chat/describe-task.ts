import type { App } from '../../app.ts';
import { proofSentence } from '../../domain/proof/proof.ts';
import { joinParts, listPart, textPart } from '../../domain/text/description-parts.ts';
import { fenced, oneLine } from '../../domain/text/sanitize.ts';
import type { TaskView } from '../../tasks/store.ts';
import { listHandoffs, listPulls, type StoredDiff } from '../../tasks/work-store.ts';
import { findProof } from '../proof/store.ts';
import { type ChatRun, findSurroundings, listChatRuns, type Surroundings } from './facts-store.ts';

/** Characters of each text in the prompt. The agent can read the files to see more of the change. */
const diffChars = 20_000;
const descriptionChars = 10_000;
const attentionChars = 4000;
const handoffChars = 1500;
/** At most this many of the latest runs and handoffs, of files, and of other entries. */
const maxRuns = 5;
const maxFiles = 100;
const maxEntries = 30;

type ShownDiff = Omit<StoredDiff, 'headSha'>;

/**
 * Describes a task for a model that answers questions about it. Every part is bounded. With `hidesPrivate`, leaves out
 * the sprint, and the tasks and pull requests of private repositories.
 */
export async function describeTask(
  app: App,
  task: TaskView,
  diff: ShownDiff | undefined,
  hidesPrivate: boolean,
): Promise<string> {
  const em = app.db.manager;
  const around = visible(await findSurroundings(em, task.id), hidesPrivate);
  const pulls = (await listPulls(em, task.id)).filter((pull) => !(hidesPrivate && pull.isPrivate));
  const proof = await findProof(em, task.id);
  const related = (t: { id: string; title: string; status: string }) => `${t.id} (${t.status}): ${t.title}`;
  const facts = [
    `Task ${task.id}, status: ${task.status}`,
    ...(around.owner === null ? ['It has no owner.'] : [`Owner: the agent ${around.owner}`]),
    ...(around.sprint === null ? [] : [`Sprint: ${around.sprint}`]),
    ...(around.parent === null ? [] : [`Part of ${around.parent.id}: ${around.parent.title}`]),
    ...(task.branchName === null ? [] : [`Branch: ${task.branchName}`]),
    ...(task.issueNumber === null ? [] : [`Issue: #${task.issueNumber}`]),
    ...(task.failure === null ? [] : [`Last failure: ${task.failure.category}: ${task.failure.message}`]),
  ];
  const { attention } = task;
  return joinParts([
    `# The task: ${oneLine(task.title, 200)}\n${facts.map((fact) => `- ${oneLine(fact, 600)}`).join('\n')}`,
    textPart('Description', task.description, descriptionChars),
    attention === null ? '' : textPart(`Waits for a person (${attention.reason})`, attention.text, attentionChars),
    listPart('Waits for these tasks', around.dependencies, maxEntries, related),
    listPart('Subtasks', around.subtasks, maxEntries, related),
    listPart('Runs, newest first', await listChatRuns(em, task.id, maxRuns), maxRuns, runLine),
    proof === undefined ? '' : `## What its tests prove\n${oneLine(proofSentence(proof), 1000)}`,
    listPart('Test files that the change touches', proof?.testsChanged ?? [], maxEntries, (path) => path),
    listPart(
      'Handoffs, oldest first',
      (await listHandoffs(em, task.id)).slice(-maxRuns),
      maxRuns,
      handoffLine,
      handoffChars,
    ),
    listPart('Pull requests', pulls, maxEntries, (p) => `${p.prUrl} (${p.status})`),
    ...diffParts(diff),
  ]);
}

function visible(around: Surroundings, hidesPrivate: boolean): Surroundings {
  if (!hidesPrivate) return around;
  const { parent, dependencies, subtasks } = around;
  return {
    ...around,
    sprint: null,
    parent: parent?.isPrivate ? null : parent,
    dependencies: dependencies.filter((task) => !task.isPrivate),
    subtasks: subtasks.filter((task) => !task.isPrivate),
  };
}

const handoffLine = ({ summary, nextSteps }: { summary: string; nextSteps: string[] }) =>
  [summary, ...nextSteps].join('; next: ');

function runLine(run: ChatRun): string {
  const { kind, status, agent, startedBy, steps, costUsd, failure, checks } = run;
  return [
    `${run.createdAt.toISOString()} ${kind}: ${status}`,
    agent === null ? '' : `by ${agent}`,
    startedBy === null ? '' : `started by @${startedBy}`,
    `${steps} ${steps === 1 ? 'step' : 'steps'}`,
    costUsd === null ? '' : `$${costUsd.toFixed(2)}`,
    failure === null ? '' : `${failure.category}: ${failure.message}`,
    checks.length === 0 ? '' : `checks: ${checks.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
}

function diffParts(diff: ShownDiff | undefined): string[] {
  if (diff === undefined) return [];
  const hunks = diff.files.flatMap(({ path, hunks: parts }) => [
    `--- ${path}`,
    ...parts.flatMap(({ oldStart, newStart, lines }) => [`@@ -${oldStart} +${newStart} @@`, ...lines]),
  ]);
  let length = 0;
  const fitting = hunks.filter((line) => {
    length += line.length + 1;
    return length <= diffChars;
  });
  const note = fitting.length < hunks.length ? '\nThe diff is cut. Read the files to see the rest.' : '';
  return [
    listPart(
      `Changed files, ${diff.branchName} compared to ${diff.baseBranch}`,
      diff.files,
      maxFiles,
      (f) => `${f.path} (${f.status}, +${f.additions} -${f.deletions})`,
    ),
    fitting.length === 0 ? '' : `## The diff\n${fenced(fitting.join('\n'))}${note}`,
  ];
}
