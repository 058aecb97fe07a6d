import type { ModelRequest, Said } from '../../src/demo/model/model.ts';

/** What a planning model answers to each of the wizard's functions; to anything else a text. */
export const plans = {
  ask_question: [
    { question: 'Which languages are greeted in?', options: ['English', 'All of the interface'], done: false },
    { question: '', options: [], done: true },
  ],
  write_prd: {
    title: 'Greeting by name',
    markdown:
      '# Greeting by name\n\n## Problem\nPeople are greeted as strangers.\n\n## Requirements\n1. A name is greeted. Accepted when `greet("Ada")` says "Hello, Ada".\n',
  },
  write_plan: {
    phases: [
      { name: 'Core', goal: 'Greet a name', reason: 'Everything else needs it' },
      { name: 'Languages', goal: 'Greet in other languages', reason: 'Needs the core' },
    ],
  },
  write_tasks: {
    tasks: [
      {
        ref: 'core',
        title: 'Greet by name',
        description: 'Accepted when tests pass.',
        owner: 'Developer',
        dependsOn: [],
      },
      { ref: 'docs', title: 'Describe it', description: '', owner: 'technical writer', dependsOn: ['core'] },
      { ref: 'i18n', title: 'Other languages', description: '', owner: 'Nobody', dependsOn: ['core', 'docs'] },
    ],
  },
};

/** Plays the planner: the first question of its own, then enough is known. */
export function planner(request: ModelRequest): Said {
  const name = request.tool_choice?.function.name as keyof typeof plans | undefined;
  if (name === undefined) return 'Nothing is missing.';
  const isAsked = JSON.stringify(request.messages).includes(plans.ask_question[0]?.question ?? '');
  const answer = name === 'ask_question' ? plans.ask_question[isAsked ? 1 : 0] : plans[name];
  return [{ name, arguments: answer as object }];
}
