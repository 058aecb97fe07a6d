import { z } from 'zod';
import { storable } from '../../../domain/text/storable.ts';
import { type Given, words } from '../../../llm/calls/declaration.ts';
import { tool } from './tool.ts';

const AskPerson = z.strictObject({
  question: z.string().trim().min(1).max(4000),
  options: z.array(z.string().trim().min(1).max(500)).max(10).optional(),
});

/** The tools that ask people. The run then waits for them. */
export const peopleTools = {
  ask_person: tool({
    description:
      'Ask the people who gave you the task, and wait for their answer, which may take days. Use it only for what neither the task nor the repository answers, where a wrong guess would cost a person more than the question. Offer options if the answers are known.',
    arguments: AskPerson,
    names: words('ask_user ask_followup_question ask_question ask_user_question ask_human request_user_input clarify'),
    argumentNames: {
      question: words('prompt message text query'),
      options: words('choices suggestions follow_up answers'),
    },
    translate: translateQuestion,
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
};

/** Options as objects, and without null. */
function translateQuestion(given: Given): Given {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Array.isArray(value) ? value.map(translateOption) : value]),
  );
}

function translateOption(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const option = given as Given;
  return option.label ?? option.text ?? option.option ?? option.title ?? option.value ?? given;
}
