import type { StateMachine } from './machine.ts';
import { oneLine } from './text/sanitize.ts';

/** Returns what is wrong with the refs and dependencies of planned tasks, as a predicate; undefined if nothing is. */
export function orderProblem(tasks: { ref: string; dependsOn: string[] }[]): string | undefined {
  const byRef = new Map(tasks.map((task) => [task.ref, task]));
  if (byRef.size < tasks.length) return 'must each have a ref of their own';
  const unknown = tasks.flatMap((t) => t.dependsOn).find((ref) => !byRef.has(ref));
  if (unknown !== undefined)
    return `must depend only on each other: no task in this list has the ref ${unknown.slice(0, 100)}`;
  // Repeatedly removes the tasks that depend on no remaining task. Tasks that are never removed form a cycle.
  let left = tasks;
  for (;;) {
    const open = new Set(left.map((t) => t.ref));
    const next = left.filter((t) => t.dependsOn.some((ref) => open.has(ref)));
    if (next.length === 0) return undefined;
    if (next.length === left.length)
      return `must not depend on each other in a cycle: ${next.map((t) => t.ref.slice(0, 100)).join(', ')}`;
    left = next;
  }
}

export const wizardStatuses = [
  'collecting',
  'answered',
  'prd_ready',
  'plan_ready',
  'tasks_ready',
  'finalized',
] as const;
export type WizardStatus = (typeof wizardStatuses)[number];

/** The parts of a plan, in the order in which they are made. Each builds on those before it. */
export const planParts = ['prd', 'plan', 'tasks'] as const;
export type PlanPart = (typeof planParts)[number];

export type WizardEvent = 'answer' | 'ask' | `generate_${PlanPart}` | `edit_${PlanPart}` | 'finalize';

/** The facts besides its status that decide the next step of a planning session. */
export interface WizardFacts {
  /** Whether all questions are asked and answered. */
  isLast: boolean;
}

const unfinished: readonly WizardStatus[] = wizardStatuses.filter((s) => s !== 'finalized');
const from = (first: WizardStatus) => unfinished.slice(unfinished.indexOf(first));

/** Rows for editing a part by hand: the first status that allows it leads to `made`, the later ones stay. */
const edits = (part: PlanPart, first: WizardStatus, made: WizardStatus) =>
  from(first).map((status) => ({
    on: `edit_${part}` as const,
    from: [status],
    to: status === first ? made : status,
  }));

/**
 * The state machine of a planning session. Generating a part again discards everything based on it; editing a part by
 * hand keeps the rest.
 */
export const wizardMachine: StateMachine<WizardStatus, WizardEvent, WizardFacts> = {
  noun: 'planning session',
  statuses: {
    collecting: 'still has open questions',
    answered: 'has all answers',
    prd_ready: 'has its requirements',
    plan_ready: 'has its plan',
    tasks_ready: 'has its tasks',
    finalized: 'is finalized',
  },
  events: {
    answer: 'take an answer',
    ask: 'get another question',
    generate_prd: 'get its requirements generated',
    generate_plan: 'get its plan generated',
    generate_tasks: 'get its tasks generated',
    edit_prd: 'get its requirements edited',
    edit_plan: 'get its plan edited',
    edit_tasks: 'get its tasks edited',
    finalize: 'be finalized',
  },
  rows: [
    {
      on: 'answer',
      from: unfinished,
      to: (f) => (f.isLast ? 'answered' : 'collecting'),
      because: 'answered after the last question, otherwise collecting',
    },
    {
      on: 'ask',
      from: ['collecting'],
      to: (f) => (f.isLast ? 'answered' : 'collecting'),
      because: 'answered when nothing is left to ask, otherwise collecting',
    },
    { on: 'generate_prd', from: from('answered'), to: 'prd_ready' },
    { on: 'generate_plan', from: from('prd_ready'), to: 'plan_ready' },
    { on: 'generate_tasks', from: from('plan_ready'), to: 'tasks_ready' },
    ...edits('prd', 'answered', 'prd_ready'),
    ...edits('plan', 'prd_ready', 'plan_ready'),
    ...edits('tasks', 'plan_ready', 'tasks_ready'),
    { on: 'finalize', from: ['tasks_ready'], to: 'finalized' },
  ],
};

/** Returns what a plan is called: the title of its issue, which the goal begins with, or otherwise its goal. */
export function planName({ goal, issueUrl }: { goal: string; issueUrl: string | null }, max = 200): string {
  const [title = ''] = goal.split('\n');
  return oneLine(issueUrl === null ? goal : title, max);
}

export interface Question {
  id: string;
  question: string;
  options: { id: string; label: string }[];
}

/** A question with its answer; null until it is answered. */
export interface Step extends Question {
  /** When it was asked, as an ISO time; missing in sessions of earlier versions. */
  askedAt?: string;
  answer: { selectedOptionIds: string[]; customText: string } | null;
}

/**
 * Builds a question. Its id must never have been that of another one, so that ticks and answers which come late cannot hit
 * the question that took its place.
 */
export const questionOf = (id: string, question: string, labels: readonly string[]): Question => ({
  id,
  question,
  options: labels.map((label, i) => ({ id: `${id}_${i + 1}`, label })),
});

/** The questions of a session without a model, and their options. */
const ownQuestions: readonly [question: string, labels: readonly string[]][] = [
  [
    'Who are the users?',
    ['Developers of this team', 'People inside the company', 'Customers', 'Everybody on the internet'],
  ],
  [
    'What must the result do at the very least?',
    ['Only what the goal says', 'Also work offline', 'Also import existing data'],
  ],
  [
    'What constraints apply?',
    [
      'None beyond the conventions of the repository',
      'No new dependencies',
      'Stay compatible with earlier versions',
      'Data protection and privacy rules',
    ],
  ],
  [
    'How good does it have to be?',
    ['A prototype to learn from', 'As well tested as the rest of the code', 'Ready for production, with documentation'],
  ],
  ['By when?', ['This week', 'In two weeks', 'This month', 'No deadline']],
];

/** At most this many questions in a session, so that it does not feel like a form. */
export const maxQuestions = 9;

/** Returns the next of the questions that need no model, with a new id; undefined when all were asked. */
export function nextOwnQuestion(steps: readonly Step[], id: string): Question | undefined {
  const next = ownQuestions.find(([question]) => !steps.some((step) => step.question === question));
  return next && questionOf(id, ...next);
}
