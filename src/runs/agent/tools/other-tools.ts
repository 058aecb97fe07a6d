import { z } from 'zod';
import { type Given, words } from '../../../llm/calls/declaration.ts';
import { explore } from './explore.ts';
import { answered, tool } from './tool.ts';

const status = z.enum(['todo', 'doing', 'done']);
const Plan = z.strictObject({
  steps: z
    .array(z.strictObject({ text: z.string().trim().min(1).max(500), status }))
    .min(1)
    .max(50),
});

/** The tools that neither read nor change files, run commands or ask people. */
export const otherTools = {
  open_repository: tool({
    description:
      'Open another connected repository at ../<name>/. Its files are then read and changed under that path.',
    arguments: z.strictObject({ name: z.string().min(1).max(200) }),
    names: ['open_repo', 'clone_repository', 'use_repository'],
    argumentNames: { name: words('repository repo repository_name repo_name') },
    changes: true,
  }),
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
  explore: tool({
    description:
      'Ask a question about the repository that needs much reading, such as "where is X decided, and what else depends on it?". A helper reads and searches the files and answers in a few paragraphs with paths and lines; it changes nothing. Use it to keep long files out of this conversation. It knows only your question.',
    arguments: z.strictObject({ question: z.string().trim().min(1).max(4000) }),
    names: words('task agent subagent dispatch_agent investigate research delegate_search codebase_investigator'),
    argumentNames: { question: words('prompt query task objective instruction') },
    translate: ({ subagent_type: _, ...given }) => given,
    changes: false,
    about: ({ question }) => question,
    run: async (context, { question }) => answered(await explore(context, question), false),
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
