import { estimateText } from '../../domain/forecast/estimates.ts';
import { harmlessLine, harmlessText } from '../../domain/text/sanitize.ts';
import { planName } from '../../domain/wizard.ts';
import type { Session } from '../../planning/store.ts';
import type { Outlook } from '../../planning/view.ts';
import { clipped, folded } from '../comments.ts';

const opening = '<!-- deckhand:question ';
/** The last box of a question. Ticking it sends the others. */
const sendBox = '**Send the ticked options**';

/** Renders a question's options as a task list that people can tick. */
export function tickList(stepId: string, labels: string[]): string[] {
  if (labels.length === 0) return [];
  const boxes = labels.map((label, i) => `- [ ] ${i + 1}. ${label}`);
  return [`${opening}${stepId} -->`, '', ...boxes, `- [ ] ${sendBox}`];
}

/** What people ticked in the comment of a plan. */
export interface Ticks {
  stepId: string;
  /** The numbers of the ticked options, from 1. */
  numbers: number[];
  isSent: boolean;
}

/** Reads the ticks in the comment of a plan. Returns undefined when it shows no question with options. */
export function readTicks(body: string): Ticks | undefined {
  const lines = body.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith(opening));
  const stepId = /^(\w{1,40}) -->$/.exec((lines[start] ?? '').slice(opening.length))?.[1];
  if (start < 0 || stepId === undefined) return undefined;
  const list = lines.slice(start + 2);
  const end = list.findIndex((line) => !/^[-*] \[[ xX]\] /.test(line));
  const ticked = list.slice(0, end < 0 ? undefined : end).filter((line) => /^[-*] \[[xX]\]/.test(line));
  const numbers = ticked.flatMap((line) => Number(/^[-*] \[[xX]\] (\d{1,2})\. /.exec(line)?.[1] ?? 0) || []);
  return { stepId, numbers, isSent: ticked.some((line) => line.slice('- [x] '.length) === sendBox) };
}

/** The first line of the planning comment. We find the comment again by this line and its author. */
export const planMarker = '<!-- deckhand:plan -->';

/** What is known of the planned tasks: the names of their agents and repositories, by id, and their estimates. */
interface Known {
  agents: Map<string, string>;
  repositories: Map<string, string>;
  outlook: Outlook;
}

/** Renders the comment of an issue whose plan was deleted. */
export function deletedPlan(prefix: string): string {
  return `${planMarker}\nThe plan was deleted. \`${prefix} plan\` starts another one.`;
}

/** Renders the one comment of a planning session: the open question, the answers, the plan, and the result. */
export function planComment(session: Session, prefix: string, known: Known, notice = ''): string {
  const line: Line = (text, max = 300) => harmlessLine(text, max, prefix);
  const sections = [
    [planMarker, `### 🧭 Plan: ${line(planName(session), 120)}`],
    notice === '' ? [] : [`> ${line(notice, 1000)}`],
    openQuestion(session, line, prefix),
    answers(session, line),
    phases(session, line),
    tasks(session, line, known),
    requirements(session, line, prefix),
    [footer(session, prefix)],
  ];
  const text = sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
  return clipped(text);
}

/**
 * Puts text by people and models on one line of at most `max` characters. Disables commands, mentions and markup in it.
 */
type Line = (text: string, max?: number) => string;

function openQuestion({ steps }: Session, line: Line, prefix: string): string[] {
  const open = steps.find((step) => step.answer === null);
  if (open === undefined) return [];
  const options = tickList(
    open.id,
    open.options.map(({ label }) => line(label)),
  );
  return [
    `**${line(open.question, 1000)}**`,
    '',
    ...options,
    '',
    `\`${prefix} answer <numbers, or your own words>\` answers too.`,
  ];
}

function answers({ steps }: Session, line: Line): string[] {
  const given = steps.flatMap(({ question, options, answer }) => {
    if (answer === null) return [];
    const labels = options.filter((o) => answer.selectedOptionIds.includes(o.id)).map((o) => o.label);
    return [`- ${line(question)} ${line([...labels, answer.customText].filter(Boolean).join('; '), 500)}`];
  });
  return given.length === 0 ? [] : folded('Answers so far', given);
}

function phases({ plan }: Session, line: Line): string[] {
  if (plan === null) return [];
  const each = plan.phases.map(
    ({ name, goal, reason }, i) => `${i + 1}. **${line(name, 100)}**: ${line(goal)} (${line(reason)})`,
  );
  return ['**Phases**', '', ...each];
}

function tasks({ tasks }: Session, line: Line, { agents, repositories, outlook }: Known): string[] {
  if (tasks === null) return [];
  const late = new Map(outlook.doesNotFit.map(({ ref, reason }) => [ref, reason]));
  const each = tasks.map(({ ref, title, owner, ownerReason, repositoryId, dependsOn }) => {
    const because = ownerReason ? ` (${line(ownerReason, 200)})` : '';
    const by = owner === null ? '' : `, ${line(agents.get(owner) ?? 'an agent', 60)}${because}`;
    const name = repositories.get(repositoryId ?? '');
    const where = name === undefined ? '' : `, in ${line(name, 60)}`;
    const after = dependsOn.length === 0 ? '' : `, after ${dependsOn.map((other) => line(other, 40)).join(', ')}`;
    const estimate = outlook.estimates.get(ref);
    const expected = estimate === undefined ? '' : `. ${[estimateText(estimate), late.get(ref)].join(' ').trim()}`;
    return `- \`${ref.replace(/[`\s]+/g, ' ').slice(0, 40)}\` ${line(title, 200)}${where}${by}${after}${expected}`;
  });
  return ['**Tasks**', '', ...each];
}

function requirements({ prd }: Session, line: Line, prefix: string): string[] {
  if (prd === null) return [];
  const markdown = harmlessText(prd.markdown, 40_000, prefix);
  return folded(`Requirements: ${line(prd.title, 150)}`, [markdown]);
}

function footer({ status, steps, result, wish }: Session, prefix: string): string {
  if (result !== null)
    return `Approved: created the sprint **${harmlessLine(result.sprint.name, 200, prefix)}** with ${result.tasks.length} tasks. Comment \`${prefix} start\` here to start it.`;
  if (wish !== null) return `Rewriting the plan. \`${prefix} plan\` tries again if nothing happens.`;
  if (status === 'tasks_ready')
    return `\`${prefix} approve\` creates a sprint, with an issue for each task. \`${prefix} plan <what should be different>\` rewrites it; \`${prefix} cancel\` deletes it.`;
  if (status === 'collecting' && steps.every(({ answer }) => answer !== null))
    return `Preparing the next question. \`${prefix} plan\` tries again if none comes.`;
  return status === 'collecting' ? '' : `\`${prefix} plan\` continues.`;
}
