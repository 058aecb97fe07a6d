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

/** The facts besides its status that decide the next step of a planning session. */
export interface WizardFacts {
  /** Whether the answer just given was to the last question. */
  isLast: boolean;
}

const unfinished: readonly WizardStatus[] = wizardStatuses.filter((s) => s !== 'finalized');
const from = (first: WizardStatus) => unfinished.slice(unfinished.indexOf(first));

/** The state machine of a planning session. Each step can be repeated, which discards everything based on it. */
export const wizardMachine: Machine<WizardStatus, WizardEvent, WizardFacts> = {
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
    generate_prd: 'get its requirements generated',
    generate_plan: 'get its plan generated',
    generate_tasks: 'get its tasks generated',
    finalize: 'be finalized',
  },
  rows: [
    {
      on: 'answer',
      from: unfinished,
      to: (f) => (f.isLast ? 'answered' : 'collecting'),
      because: 'answered after the last question, otherwise collecting',
    },
    { on: 'generate_prd', from: from('answered'), to: 'prd_ready' },
    { on: 'generate_plan', from: from('prd_ready'), to: 'plan_ready' },
    { on: 'generate_tasks', from: from('plan_ready'), to: 'tasks_ready' },
    { on: 'finalize', from: ['tasks_ready'], to: 'finalized' },
  ],
};

export interface Question {
  id: string;
  question: string;
  options: { id: string; label: string }[];
}

/** A question with its answer; null until it is answered. */
export interface Step extends Question {
  answer: { selectedOptionIds: string[]; customText: string } | null;
}

const asked = (id: string, question: string, labels: string[]): Question => ({
  id,
  question,
  options: labels.map((label, i) => ({ id: `${id}_${i + 1}`, label })),
});

/** The fixed questions of every session, with or without a model. */
const ownQuestions: readonly Question[] = [
  asked('users', 'Who are the users?', [
    'Developers of this team',
    'People inside the company',
    'Customers',
    'Everybody on the internet',
  ]),
  asked('must_haves', 'What must the result do at the very least?', [
    'Only what the goal says',
    'Also work offline',
    'Also import existing data',
  ]),
  asked('constraints', 'What constraints apply?', [
    'None beyond the conventions of the repository',
    'No new dependencies',
    'Stay compatible with earlier versions',
    'Data protection and privacy rules',
  ]),
  asked('quality', 'How good does it have to be?', [
    'A prototype to learn from',
    'As well tested as the rest of the code',
    'Ready for production, with documentation',
  ]),
  asked('deadline', 'By when?', ['This week', 'In two weeks', 'This month', 'No deadline']),
];

/** At most this many questions in a session, including the model's, so that it does not feel like a form. */
export const maxQuestions = 9;

/** Returns the next of the fixed questions; undefined when all were asked. */
export function nextOwnQuestion(steps: readonly Step[]): Question | undefined {
  return ownQuestions.find(({ id }) => !steps.some((step) => step.id === id));
}

/** Builds a step from a question of the model, with new ids for the step and its options. */
export function modelQuestion(question: string, labels: string[], steps: readonly Step[]): Question {
  return asked(`step_${steps.length + 1}`, question, labels);
}
