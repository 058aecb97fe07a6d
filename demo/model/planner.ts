import { type ModelRequest, offers, type Said, textOf } from './model.ts';

const questions = [
  {
    question: 'src/slugify.js has one exported function. Should its signature stay as it is?',
    options: ['Keep it', 'Add an options argument', 'Add a second function'],
  },
  {
    question: 'test/slugify.test.js covers plain words only. What should the new tests cover first?',
    options: ['The goal itself', 'The goal and other languages', 'Very long titles'],
  },
  { question: 'What should README.md say about it?', options: ['One example', 'An example and the limits', 'Nothing'] },
];

const functions = ['ask_question', 'write_prd', 'write_plan', 'write_tasks'];

/** Returns whether the request comes from the planning wizard. */
export function isPlanning(request: ModelRequest): boolean {
  return functions.some((name) => offers(request, name));
}

/** Reads the repository once. Later steps have the notes of the first one. */
export function readForPlan(request: ModelRequest, turn: number): Said {
  if (turn > 0)
    return 'src/slugify.js exports one function; test/slugify.test.js tests it; README.md shows how to use it.';
  if (textOf(request).includes('# Found by reading')) return 'The notes are enough.';
  return ['src/slugify.js', 'test/slugify.test.js'].map((path) => ({ name: 'read_file', arguments: { path } }));
}

/** Returns the demo's call of the function that the wizard requests, composed from the goal and the answers so far. */
export function plannerOf(name: string, request: ModelRequest): Said {
  const text = textOf(request);
  const goal = /^# The goal\n(.+)$/m.exec(text)?.[1] ?? 'the goal';
  const answers = [...text.matchAll(/^- (.+\? .+(?:\n {2}.*)*)$/gm)].map(([, answer]) => answer ?? '');
  const wish = /^# What the person wants to be different this time\n([\s\S]+)$/m.exec(text)?.[1]?.trim() ?? '';
  const write = writers[name];
  return write === undefined ? 'There is nothing to add.' : [{ name, arguments: write(goal, answers, wish) }];
}

/** What the person wants to be different appears in the text, so that they see that it was heard. */
const writers: Record<string, (goal: string, answers: string[], wish: string) => object> = {
  ask_question: (_goal, answers) => {
    const next = questions[answers.length];
    return next === undefined ? { question: '', options: [], done: true } : { ...next, done: false };
  },
  write_prd: (goal, answers, wish) => ({
    title: goal.slice(0, 100),
    markdown: [
      `# ${goal}`,
      `## Problem\nToday the library does not do this: ${goal}.`,
      `## What we learned\n${answers.map((a) => `- ${a}`).join('\n') || '- No questions were asked.'}`,
      '## Requirements\n1. The behaviour is implemented. Accepted when its tests pass.\n2. It is documented. Accepted when the documentation shows an example.',
      '## Non-goals\n- Changes to what the library does today.',
      ...(wish === '' ? [] : [`## Asked for\n${wish}`]),
    ].join('\n\n'),
  }),
  write_plan: (goal, _answers, wish) => ({
    phases: [
      ...(wish === '' ? [] : [{ name: 'Asked for', goal: wish.slice(0, 500), reason: 'A person asked for it.' }]),
      { name: 'Build', goal, reason: 'Everything else depends on it.' },
      { name: 'Prove', goal: 'Tests show the new behaviour.', reason: 'They need something to test.' },
      { name: 'Explain', goal: 'The documentation has an example.', reason: 'It describes what was built.' },
    ],
  }),
  write_tasks: (goal, _answers, wish) => ({
    tasks: [
      ...(wish === '' ? [] : [task('wish', (wish.split('\n', 1)[0] ?? '').slice(0, 150), 'Developer', ['build'])]),
      task('build', goal.slice(0, 150), 'Developer', []),
      task('tests', `Tests: ${goal}`.slice(0, 150), 'QA Engineer', ['build']),
      task('docs', `Document: ${goal}`.slice(0, 150), 'Technical Writer', ['build']),
    ],
  }),
};

function task(ref: string, title: string, owner: string, dependsOn: string[]) {
  const ownerReason = `Its description fits: ${owner}.`;
  return { ref, title, description: `${title}.\n\nAccepted when \`npm test\` passes.`, owner, ownerReason, dependsOn };
}
