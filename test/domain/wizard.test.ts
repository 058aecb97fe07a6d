import { decide } from '../../src/domain/machine.ts';
import {
  maxQuestions,
  nextOwnQuestion,
  questionOf,
  type Step,
  type WizardEvent,
  type WizardStatus,
  wizardMachine,
  wizardStatuses,
} from '../../src/domain/wizard.ts';

/** Returns the status after an event in each status, in their order; null where the event is refused. */
const after = (event: WizardEvent, isLast = false): (WizardStatus | null)[] =>
  wizardStatuses.map((status) => {
    const outcome = decide(wizardMachine, status, event, { isLast });
    return outcome.kind === 'moves' ? outcome.to : null;
  });
const [refused, open, answered] = [null, 'collecting', 'answered'] as const;
const [prd, plan, tasks] = ['prd_ready', 'plan_ready', 'tasks_ready'] as const;

test.each<[WizardEvent, boolean, (WizardStatus | null)[]]>([
  ['answer', false, [open, open, open, open, open, refused]],
  ['answer', true, [answered, answered, answered, answered, answered, refused]],
  ['ask', false, [open, refused, refused, refused, refused, refused]],
  ['ask', true, [answered, refused, refused, refused, refused, refused]],
  ['generate_prd', false, [refused, prd, prd, prd, prd, refused]],
  ['generate_plan', false, [refused, refused, plan, plan, plan, refused]],
  ['generate_tasks', false, [refused, refused, refused, tasks, tasks, refused]],
  ['edit_prd', false, [refused, prd, prd, plan, tasks, refused]],
  ['edit_plan', false, [refused, refused, plan, plan, tasks, refused]],
  ['edit_tasks', false, [refused, refused, refused, tasks, tasks, refused]],
  ['finalize', false, [refused, refused, refused, refused, 'finalized', refused]],
])('%s in each status of a planning session, with the last question answered: %s', (event, isLast, statuses) => {
  expect(after(event, isLast)).toEqual(statuses);
});

test('without a model, each question is asked once, with options that have ids of their own', () => {
  const steps: Step[] = [];
  for (let i = 0; i < maxQuestions; i++) {
    const next = nextOwnQuestion(steps, `step_${i}`);
    if (next !== undefined) steps.push({ ...next, answer: null });
  }
  expect(steps.map(({ id }) => id)).toEqual(['step_0', 'step_1', 'step_2', 'step_3', 'step_4']);
  expect(new Set(steps.map(({ question }) => question)).size).toBe(5);
  expect(steps.at(-1)?.options.map(({ id }) => id)).toEqual(['step_4_1', 'step_4_2', 'step_4_3', 'step_4_4']);
});

test('the options of a question have ids of their own', () => {
  expect(questionOf('step_x', 'Why?', ['Because', 'So that'])).toEqual({
    id: 'step_x',
    question: 'Why?',
    options: [
      { id: 'step_x_1', label: 'Because' },
      { id: 'step_x_2', label: 'So that' },
    ],
  });
});
