import { readFileSync } from 'node:fs';
import type { AgentRow } from '../db/tables/project.ts';
import type { RunRow } from '../db/tables/run.ts';
import type { HandoffRow } from '../db/tables/task.ts';
import { visible } from '../domain/text/sanitize.ts';
import type { Message } from '../llm/model.ts';
import type { TaskView } from '../tasks/store.ts';

type Part =
  | 'working-rules'
  | 'shell'
  | 'no-shell'
  | 'data'
  | 'summary'
  | 'handoff'
  | 'first-finish'
  | 'plan-always'
  | 'plan-large'
  | 'review-rules';

/** Reads one part of the prompts, from the Markdown file of that name in this folder. */
export function part(name: Part): string {
  return readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8').trim();
}

/** The contents of the first messages to the model. */
interface Opening {
  agent: AgentRow;
  task: TaskView;
  run: Pick<RunRow, 'instructions'>;
  hasShell: boolean;
  repositoryName: string;
  /** A short listing of the repository. */
  map: string;
  handoffs: HandoffRow[];
  /** The last handoffs of the tasks that this task depended on, and of its subtasks. */
  related: { title: string; summary: string; nextSteps: string[] }[];
  /** The repository's own instructions; empty when it has none. */
  instructions: string;
  /** The commands that check the change when the agent finishes. */
  checks: string[];
  /** The names of the other repositories that the run may open. */
  others: string[];
  /** Comments, images, skills and the tools of other servers; see `sectionsOf`. */
  sections: string[];
  /** Files that contain conflict markers because the base branch was merged. */
  conflicts: string[];
}

/** The parts of the system prompt that never change. Reading them once is enough. */
const [workingRules, shell, noShell, data] = [part('working-rules'), part('shell'), part('no-shell'), part('data')];

/**
 * Writes the first messages of a conversation: how to work, who the agent is, how this repository works, and the task.
 * What many runs share comes first, because servers cache prompts by their beginning.
 */
export function openingMessages(given: Opening): Message[] {
  const { agent, hasShell, instructions } = given;
  const parts = [
    `${workingRules}\n\n${hasShell ? shell : noShell}`,
    agent.systemPrompt === '' ? '' : `## Your role\n\n${agent.systemPrompt}`,
    instructions === '' ? '' : `## How to work in this repository\n\n${instructions}`,
    data,
  ];
  return [
    { role: 'system', content: parts.filter((text) => text !== '').join('\n\n') },
    { role: 'user', content: describeTask(given) },
  ];
}

function describeTask(given: Opening): string {
  const { task, run, repositoryName, map, handoffs, related, conflicts, checks, others, sections } = given;
  const parts = [
    // Nobody sees invisible characters where they decide to start the task.
    visible(`# Task: ${task.title}`),
    visible(task.description),
    run.instructions === '' ? '' : `## Instructions for this attempt\n${run.instructions}`,
    ...sections,
    mergeText(conflicts),
    handoffs.length === 0 ? '' : `## Handoffs of earlier attempts\n${earlierHandoffs(handoffs)}`,
    related.length === 0
      ? ''
      : `## Handoffs of the tasks before it\n${related.map((r) => `### ${r.title}\n${handoffText(r)}`).join('\n\n')}`,
    checks.length === 0
      ? ''
      : `## Checks\nThese commands run when you call finish, and must pass:\n${checks.map((c) => `- ${c}`).join('\n')}`,
    others.length === 0
      ? ''
      : `## Other repositories\nopen_repository opens them at ../<name>/. Each one that you change gets its own pull request: ${others.join(', ')}`,
    `## The repository ${repositoryName}\n\`\`\`\n${map}\n\`\`\``,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Says that the base branch was merged and conflicts have to be resolved; '' when there are none. */
export function mergeText(conflicts: string[]): string {
  if (conflicts.length === 0) return '';
  const files = conflicts.map((path) => `- ${path}`).join('\n');
  return `## The base branch was merged\nThese files conflict and contain git's markers (<<<<<<<, =======, >>>>>>>). Keep what both sides intended, and leave no marker:\n${files}`;
}

/** Of the handoffs before the last ones, only the beginning is shown. */
const maxWhole = 5;
const headChars = 300;
/** Older handoffs are only counted. */
const maxHandoffs = 50;

function earlierHandoffs(handoffs: HandoffRow[]): string {
  const shown = handoffs.slice(-maxHandoffs);
  const older = shown.slice(0, -maxWhole).map(({ summary }) => cut(summary, headChars));
  const left = handoffs.length - shown.length;
  const texts = [...older, ...shown.slice(-maxWhole).map(handoffText)];
  return [...(left > 0 ? [`[${left} older handoffs are left out]`] : []), ...texts].join('\n\n');
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)} [… cut]`;
}

function handoffText({ summary, nextSteps }: Pick<HandoffRow, 'summary' | 'nextSteps'>): string {
  return [summary, ...nextSteps.map((step) => `- next: ${step}`)].join('\n');
}
