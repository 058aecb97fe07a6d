import type { Script } from './model.ts';

/** The demo's issue. The `script` below solves it in the sample repository, as a developer would. */
export const issue = {
  title: 'slugify drops accented letters',
  body: '`slugify("Crème brûlée")` gives `cr-me-br-l-e`. It should give `creme-brulee`.',
};

/** Issues that nobody works on yet. */
export const laterIssues = [
  { title: 'Long titles make long addresses', body: 'Cut slugs at 60 characters, between two words.' },
  { title: 'Let callers choose the separator', body: 'Some sites use underscores: `slugify("Hello, world", "_")`.' },
  { title: 'README: show an example', body: 'New users ask what a slug is.' },
];

/** A task that does not say enough. The model gives it up until its description has a line that begins with `Name:`. */
export const unclearTask = { title: 'Publish the package under its new name', description: 'The old name is taken.' };
export const whatIsUnclear =
  'The task does not say what the new name is. Add a line to its description, for example "Name: url-slugs", and retry.';

/** A task whose plan waits for a person. */
export const plannedTask = {
  title: 'Cut long slugs between two words',
  description: 'A slug has at most 60 characters. Cut it after the last whole word, and add a test.',
};

/** Tasks that people do themselves. */
export const releaseTasks = [
  'Choose a licence',
  'Reserve the name of the package',
  'Write the announcement',
  'Ask two users to try it',
  'Publish version 1.0',
];

const oldLines = '  return title\n    .toLowerCase()';
const newLines = "  return title\n    .normalize('NFKD')\n    .replace(/\\p{M}/gu, '')\n    .toLowerCase()";
const newTest = `
test('keeps the letters under accents', () => {
  assert.equal(slugify('Crème brûlée'), 'creme-brulee');
});
`;

export const script: Script = [
  [
    { name: 'list_files', arguments: {} },
    { name: 'read_file', arguments: { path: 'src/slugify.js' } },
    { name: 'read_file', arguments: { path: 'test/slugify.test.js' } },
  ],
  [{ name: 'edit_file', arguments: { path: 'src/slugify.js', old: oldLines, new: newLines } }],
  [
    {
      name: 'edit_file',
      arguments: {
        path: 'test/slugify.test.js',
        old: "test('leaves no dash at the ends'",
        new: `${newTest.trimStart()}\ntest('leaves no dash at the ends'`,
      },
    },
  ],
  [{ name: 'run_command', arguments: { command: 'npm test --silent || node --test' } }],
  [
    {
      name: 'finish',
      arguments: {
        summary:
          'slugify now removes accents (Unicode NFKD) before it drops everything that is not a letter, so "Crème brûlée" becomes "creme-brulee". A new test covers it.',
        nextSteps: [],
        title: 'Keep accented letters in slugs',
      },
    },
  ],
];
