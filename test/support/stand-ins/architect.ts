import type { ModelRequest, Said } from '../../../demo/model/model.ts';

/** Six questions that name what the architect read. */
const questions = [
  ['src/slugify.js exports slugify(title). Should its signature stay?', 'Keep it', 'Add options'],
  ['test/slugify.test.js has no accents. Which languages count?', 'French', 'All that Unicode decomposes'],
  ['package.json has no dependencies. May one be added?', 'No', 'Yes'],
  ['README.md shows one example. Should it show accents?', 'Yes', 'No'],
  ['../Docs/README.md repeats the example. Should both change?', 'Both', 'Only the library'],
  ['Should src/slugify.js cut long titles as well?', 'No', 'At 80 characters'],
] as const;

const answers: Record<string, (told: string) => object> = {
  ask_question: (told) => {
    const [next, ...options] = questions.find(([question]) => !told.includes(question.slice(0, 40))) ?? [''];
    return { question: next, options, done: next === '' };
  },
  write_prd: (told) => ({
    title: 'Accents in slugs',
    markdown: `# Accents in slugs\n\n## Problem\nsrc/slugify.js drops letters with accents.\n\n## Requirements\n1. "Café" becomes "cafe". Accepted when test/slugify.test.js covers it.${
      told.includes('Say what happens to ß') ? '\n2. "ß" becomes "ss".' : ''
    }\n`,
  }),
  write_plan: () => ({
    phases: [
      { name: 'Library', goal: 'slugify decomposes letters', reason: 'The documentation shows its result' },
      { name: 'Documentation', goal: 'Both READMEs show an accent', reason: 'It needs the new behaviour' },
    ],
  }),
  write_tasks: () => ({
    tasks: [
      {
        ref: 'lib',
        title: 'Decompose accents in src/slugify.js',
        description: 'Use String.prototype.normalize.\n\n- [ ] test/slugify.test.js covers "Café"',
        owner: 'Developer',
        ownerReason: 'It is a change of code.',
        repository: 'sample',
        dependsOn: [],
      },
      {
        ref: 'docs',
        title: 'Show an accent in the guide',
        description: 'Change README.md.',
        owner: 'Technical Writer',
        ownerReason: 'It is prose.',
        repository: 'Docs',
        dependsOn: ['lib'],
      },
    ],
  }),
};

/** Plays a planning model that reads both repositories in its first step, and then answers in earnest. */
export function architect(request: ModelRequest, turn: number): Said {
  const name = request.tool_choice?.function.name ?? '';
  const told = JSON.stringify(request.messages);
  const answer = answers[name];
  if (answer !== undefined) return [{ name, arguments: answer(told) }];
  if (turn > 0 || told.includes('Found by reading'))
    return 'src/slugify.js is one function, and ../Docs repeats its README.';
  return ['src/slugify.js', '../Docs/README.md'].map((path) => ({ name: 'read_file', arguments: { path } }));
}
