import type { ModelRequest, Said } from '../../../demo/model/model.ts';

/** A planning model's answers to each function of the wizard. */
export const plans = {
  ask_question: [
    { question: 'Which languages are greeted in?', options: ['English', 'All of the interface'], done: false },
    { question: 'What about people without a name?', options: ['Greet strangers', 'Refuse'], done: false },
    { question: 'By when?', options: ['This week', 'No deadline'], done: false },
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

/** Plays a planning model: it asks three questions, and then proceeds. It answers anything else with text. */
export function planner(request: ModelRequest): Said {
  const name = request.tool_choice?.function.name as keyof typeof plans | undefined;
  if (name === undefined) return 'Nothing is missing.';
  const told = JSON.stringify(request.messages);
  const next = plans.ask_question.find(({ question }) => question === '' || !told.includes(question));
  return [{ name, arguments: (name === 'ask_question' ? next : plans[name]) as object }];
}
