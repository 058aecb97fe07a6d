import { z } from 'zod';
import { storable } from '../../domain/text/sanitize.ts';
import { type Given, words } from '../../llm/calls/declaration.ts';
import { problemWithFiles } from '../planned-files.ts';
import { answered, refused, tool } from './tool.ts';

const AskPerson = z.strictObject({
  question: z.string().trim().min(1).max(4000),
  options: z.array(z.string().trim().min(1).max(500)).max(10).optional(),
});

const ProposePlan = z.strictObject({
  markdown: z.string().trim().min(1).max(20_000),
  files: z.array(z.string().trim().min(1).max(300)).max(200),
  checks: z.array(z.string().trim().min(1).max(500)).max(50).optional(),
});

const AnswerComment = z.strictObject({
  comment: z.string().trim().min(1).max(100),
  text: z.string().trim().min(1).max(10_000),
});

/** The tools that ask people, for whom the run then waits, and that answer them. */
export const peopleTools = {
  answer_comment: tool({
    description:
      'Answer a comment on a line, in its thread: what you changed for it, or why you changed nothing. `comment` is its id in the request. People see the answer when your run has ended; a second answer replaces the first.',
    arguments: AnswerComment,
    names: words('reply_to_comment reply_comment respond_to_comment answer_review_comment'),
    argumentNames: { comment: words('id comment_id thread thread_id'), text: words('answer body reply message') },
    changes: false,
    offer: 'with comments',
    about: ({ comment }) => comment,
    run: async ({ answerComment, withoutSecrets }, args) => {
      const { comment, text } = withoutSecrets(storable(args));
      const isKept = await answerComment?.(comment, text);
      if (!isKept) return refused(`you were not asked to act on ${comment}; use an id of the request`);
      return answered({ ok: true, text: 'kept; people see it when your run has ended' }, false);
    },
  }),
  ask_person: tool({
    description:
      'Ask the people who gave you the task, and wait for their answer, which may take days. Use it only for what neither the task nor the repository answers, where a wrong guess would cost a person more than the question. Offer options if the answers are known.',
    arguments: AskPerson,
    names: words('ask_user ask_followup_question ask_question ask_user_question ask_human request_user_input clarify'),
    argumentNames: {
      question: words('prompt message text query'),
      options: words('choices suggestions follow_up answers'),
    },
    translate: translateLists,
    changes: false,
    about: ({ question }) => question,
    run: async ({ withoutSecrets }, args) => {
      const { question, options = [] } = withoutSecrets(storable(args));
      return {
        kind: 'wait',
        wait: { reason: 'question', text: question, options },
        text: 'The question was asked. The next message has the answer.',
      };
    },
  }),
  propose_plan: tool({
    description:
      'Propose a plan to the people who gave you the task, and wait until they approve it or ask for another one. `markdown` says what you will do and why; `files` names every file that you will create, change or delete, with globs where there are many; `checks` says how you will check the result.',
    arguments: ProposePlan,
    names: words('submit_plan present_plan exit_plan_mode plan_mode_respond create_plan'),
    argumentNames: {
      markdown: words('plan text description body content'),
      files: words('paths changed_files file_paths'),
      checks: words('tests verification commands'),
    },
    translate: translateLists,
    changes: false,
    offer: 'with plan',
    about: ({ files }) => `for ${files.length} ${files.length === 1 ? 'file' : 'files'}`,
    run: async ({ withoutSecrets }, args) => {
      const { markdown, files, checks = [] } = withoutSecrets(storable(args));
      const problem = await problemWithFiles(files);
      if (problem !== undefined) return refused(problem);
      return {
        kind: 'wait',
        wait: { reason: 'plan', text: markdown, options: [], plan: { markdown, files, checks } },
        text: 'The plan was shown to people. The next message says whether it is approved.',
      };
    },
  }),
};

/** Understands lists of objects instead of texts, and null for arguments that are not set. */
function translateLists(given: Given): Given {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Array.isArray(value) ? value.map(translateOption) : value]),
  );
}

function translateOption(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const { label, text, option, title, value, path, command } = given as Given;
  return label ?? text ?? option ?? title ?? value ?? path ?? command ?? given;
}
