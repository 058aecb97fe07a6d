import type { Machine } from './machine.ts';

export const wizardStatuses = [
  'collecting',
  'answered',
  'prd_ready',
  'plan_ready',
  'tasks_ready',
  'finalized',
] as const;
export type WizardStatus = (typeof wizardStatuses)[number];

export type WizardEvent = 'answer' | 'generate_prd' | 'generate_plan' | 'generate_tasks' | 'finalize';

/** Whether the answer just given was to the last question. */
export interface WizardFacts {
  isLast: boolean;
}

const unfinished: readonly WizardStatus[] = wizardStatuses.filter((s) => s !== 'finalized');
const from = (first: WizardStatus) => unfinished.slice(unfinished.indexOf(first));

/** The steps of planning (decisions, section 8): each may be done again, which drops what was built on it. */
export const wizardMachine: Machine<WizardStatus, WizardEvent, WizardFacts> = [
  {
    on: 'answer',
    from: unfinished,
    to: (f) => (f.isLast ? 'answered' : 'collecting'),
    because: 'answered after the last question, else collecting',
  },
  { on: 'generate_prd', from: from('answered'), to: 'prd_ready' },
  { on: 'generate_plan', from: from('prd_ready'), to: 'plan_ready' },
  { on: 'generate_tasks', from: from('plan_ready'), to: 'tasks_ready' },
  { on: 'finalize', from: ['tasks_ready'], to: 'finalized' },
];

export interface Question {
  id: string;
  question: string;
  options: { id: string; label: string }[];
}

/** A question with its answer, once there is one. */
export interface Step extends Question {
  answer: { selectedOptionIds: string[]; customText: string } | null;
}

const asked = (id: string, question: string, labels: string[]): Question => ({
  id,
  question,
  options: labels.map((label, i) => ({ id: `${id}_${i + 1}`, label })),
});

/** The questions that every plan needs an answer to; the wizard asks them itself. */
export const ownQuestions: readonly Question[] = [
  asked('users', 'Who are the users?', [
    'Developers of this team',
    'People inside the company',
    'Customers',
    'Everybody on the internet',
  ]),
  asked('must_haves', 'What must it do at the very least?', [
    'Only what the goal says',
    'Also work without a network',
    'Also import what is there already',
  ]),
  asked('constraints', 'What is it bound by?', [
    'Nothing beyond what the repository does',
    'No new dependencies',
    'It must stay compatible',
    'Rules on data and privacy',
  ]),
  asked('quality', 'How good must it be?', [
    'A prototype to learn from',
    'Tested as the rest of the code',
    'Ready for production, with documentation',
  ]),
  asked('deadline', 'Until when?', ['This week', 'In two weeks', 'This month', 'There is no date']),
];

/** Ours and the model's together (between three and nine in all). */
export const mostQuestions = 9;

/** The next question of ours; undefined when all are asked. */
export function nextOwnQuestion(steps: readonly Step[]): Question | undefined {
  return ownQuestions.find(({ id }) => !steps.some((step) => step.id === id));
}

/** A question of the model's as a step of its own. */
export function modelQuestion(question: string, labels: string[], steps: readonly Step[]): Question {
  return asked(`step_${steps.length + 1}`, question, labels);
}
