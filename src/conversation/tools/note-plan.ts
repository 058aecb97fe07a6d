import { z } from 'zod';
import { type Given, words } from '../../llm/calls/declaration.ts';
import { answered, tool } from './tool.ts';

const status = z.enum(['todo', 'doing', 'done']);
const Plan = z.strictObject({
  steps: z
    .array(z.strictObject({ text: z.string().trim().min(1).max(500), status }))
    .min(1)
    .max(50),
});

/** The tool that shows people the steps of the work. */
export const notePlanTool = {
  note_plan: tool({
    description:
      'Note the steps of your work and how far they are, for the people who watch the run. Use it in tasks of several steps, and again when a step is done. Send all steps each time.',
    arguments: Plan,
    names: words('update_plan todo_write write_todos set_plan manage_todo_list update_todo_list'),
    argumentNames: { steps: words('plan todos items todo_list tasks') },
    translate: translatePlan,
    changes: false,
    run: async ({ note }, { steps }) => {
      const done = steps.filter((step) => step.status === 'done').length;
      const doing = steps.find((step) => step.status === 'doing');
      const now = doing === undefined ? '' : `; now: ${doing.text}`;
      await note('plan', `${done} of ${steps.length} steps are done${now}`, { steps });
      return answered({ ok: true, text: `noted: ${done} of ${steps.length} steps are done` }, false);
    },
  }),
};

/** Words of other agents for the status of a step. */
const statuses = new Map<string, z.output<typeof status>>([
  ...words('todo pending notstarted open').map((word) => [word, 'todo'] as const),
  ...words('doing inprogress active current').map((word) => [word, 'doing'] as const),
  ...words('done completed complete finished').map((word) => [word, 'done'] as const),
]);

/** Understands steps that are plain texts, and other names for their text and status. */
function translatePlan(given: Given): Given {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, Array.isArray(value) ? value.map(translateStep) : value]),
  );
}

function translateStep(given: unknown): unknown {
  if (typeof given === 'string') return { text: given, status: 'todo' };
  if (typeof given !== 'object' || given === null) return given;
  const step = given as Given;
  const text = step.text ?? step.step ?? step.content ?? step.title ?? step.description ?? step.task;
  const word = String(step.status ?? step.state ?? 'todo');
  return { text, status: statuses.get(word.toLowerCase().replace(/[^a-z]/g, '')) ?? word };
}
