import { harmlessLine } from '../../../src/domain/text/sanitize.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { findCommitRules, problemsWithMessage } from '../../../src/repositories/customs/commit-rules.ts';
import { conformedTitle, problemsWithTitle, readRules } from '../../../src/repositories/customs/commitlint.ts';
import { type CommitRules, conventionalRules } from '../../../src/repositories/customs/conventional.ts';

const conform = (title: string, rules: CommitRules = conventionalRules, paths: string[] = ['src/a.js']) =>
  conformedTitle({ title, instead: 'Do the task', paths }, rules);

test.each([
  ['feat(api)!: drop the old routes', 'feat(api)!: drop the old routes'],
  ['Add a greeting', 'feat: add a greeting'],
  ['Fixes the crash of slugOf.', 'fix: fixes the crash of slugOf'],
  ['Fix: Handle accents...', 'fix: handle accents'],
  ['feature(web): Show IDs', 'feat(web): show IDs'],
  ['Something else entirely', 'chore: something else entirely'],
  ['URL: parsing of ports', 'chore: url: parsing of ports'],
  ['fix\u2060: #\u20601 is back', 'fix: #\u20601 is back'],
  ['', 'chore: do the task'],
  ['docs:', 'docs: do the task'],
  ['Work in progress: Greet', 'chore: work in progress: Greet'],
  ['HTTP IS BROKEN', 'chore: http IS BROKEN'],
])('%j becomes %j', async (title, wanted) => {
  const made = await conform(title);
  expect(made).toBe(wanted);
  expect(await problemsWithTitle(made, conventionalRules)).toEqual([]);
});

test.each([
  ['Fix(@octocat): Something.', 'fix: something'],
  ['Fix(#12): Something.', 'fix: something'],
  ['Fix(GH-12): Something.', 'fix: something'],
  ['FIX(@acme/core)!: Stop', 'fix!: stop'],
  ['Fix: https://github.com/a/b/issues/1', 'fix: https:\u2060//github.com/a/b/issues/1'],
  ['Fix: @octocat should look at GH-1.', 'fix: @\u2060octocat should look at GH-\u20601'],
])('%j becomes %j, which follows the rules and mentions nobody', async (title, wanted) => {
  const made = await conform(harmlessLine(title, 200, '/agent'));
  expect(made).toBe(wanted);
  expect(await problemsWithTitle(made, conventionalRules)).toEqual([]);
});

test('an address in the title of the task does not follow a closing keyword', async () => {
  const instead = harmlessLine('Task: https://github.com/a/b/issues/1', 200, '/agent');
  const made = await conformedTitle({ title: 'fix:', instead, paths: [] }, conventionalRules);
  expect(made).toBe('fix: https:\u2060//github.com/a/b/issues/1');
});

test('types and scopes that a configuration asks for mention nobody either', async () => {
  const rules: CommitRules = {
    'type-enum': [2, 'always', ['@octocat', '#12']],
    'scope-empty': [2, 'never'],
    'scope-enum': [2, 'always', ['@acme/core', '#12']],
  };
  expect(await conform('Something else', rules)).toBe('chore: Something else');
  expect(await conform('Something else', { ...rules, 'scope-enum': [2, 'always', ['@acme/core', 'web']] })).toBe(
    'chore(web): Something else',
  );
});

test.each([
  [['README.md', 'docs/a.png'], 'docs'],
  [['test/a.test.js'], 'test'],
  [['package.json', 'package-lock.json'], 'build'],
  [['.github/workflows/ci.yml'], 'ci'],
  [['src/a.js', 'README.md'], 'chore'],
  [[], 'chore'],
])('a change of %j is of the type %s', async (paths, type) => {
  expect(await conform('Words about it', conventionalRules, paths)).toBe(`${type}: words about it`);
});

test('a long title is cut at a word, within the limit of the rules', async () => {
  const long = `Add ${'many words '.repeat(30)}`;
  expect(await conform(long)).toMatch(/^feat: add (many words )+many( words)?$/);
  expect((await conform(long)).length).toBeLessThanOrEqual(100);
  expect((await conform(long, { ...conventionalRules, 'header-max-length': [2, 'always', 50] })).length).toBeLessThan(
    51,
  );
});

test('rules of a repository count: types, scopes, cases and stops', async () => {
  const rules: CommitRules = {
    'type-enum': [2, 'always', ['Feature', 'Other']],
    'type-case': [2, 'always', 'sentence-case'],
    'scope-empty': [2, 'never'],
    'scope-enum': [2, 'always', ['web', 'src']],
    'subject-case': [2, 'always', 'sentence-case'],
    'subject-full-stop': [2, 'always', '.'],
  };
  expect(await conform('fix: many things', rules)).toBe('Feature(src): Fix: many things.');
  expect(await conform('Other(web): tidy', rules)).toBe('Other(web): Tidy.');
});

test('the same input gives the same title, and a correct title stays', async () => {
  const once = await conform('Speed up the search');
  expect(await conform('Speed up the search')).toBe(once);
  expect(await conform(once)).toBe(once);
});

const read = (name: string, text: string) => readRules(name, Buffer.from(text));

test.each([
  [
    '.commitlintrc',
    'extends: ["@commitlint/config-conventional"]\nrules:\n  type-enum: [2, always, [a, b]]\n  body-leading-blank: [1, always]\n',
  ],
  [
    '.commitlintrc.json',
    '{"extends":"@commitlint/config-conventional","rules":{"type-enum":[2,"always",["a","b"]],"body-leading-blank":[0]}}',
  ],
  [
    'package.json',
    '{"commitlint":{"extends":["@commitlint/config-conventional"],"rules":{"type-enum":[2,"always",["a","b"]],"body-leading-blank":[1]}}}',
  ],
])('the rules in %s are read', async (name, text) => {
  const { 'body-leading-blank': _, ...rest } = conventionalRules;
  expect(await read(name, text)).toEqual({ rules: { ...rest, 'type-enum': [2, 'always', ['a', 'b']] }, notes: [] });
});

test.each([
  [
    '{"extends":["@acme/config","../up.js"]}',
    ['the rules of @acme/config are not known', 'the rules of ../up.js are not known'],
  ],
  [
    '{"rules":{"own-rule":[2,"always"],"type-case":[2,"always","no-case"],"type-empty":[2,"never"]}}',
    ['the rule own-rule is not used', 'the rule type-case is not used'],
  ],
  [
    '{"extends":"@commitlint/config-conventional","parserPreset":{"parserOpts":{"headerPattern":"(a+)+$"}}}',
    ['parserPreset is not used'],
  ],
  ['{"rules":', ['.commitlintrc cannot be read']],
  ['[1,2]', []],
  ['"text"', ['.commitlintrc must contain extends and rules']],
  [
    '{"rules":{"__proto__":[2,"always"],"constructor":[2]}}',
    ['the rule __proto__ is not used', 'the rule constructor is not used'],
  ],
])('%s is read as far as it goes', async (text, notes) => {
  const found = await read('.commitlintrc', text);
  expect(found.notes).toEqual(notes.map((note) => expect.stringContaining(note)));
  expect(found.rules).toBeDefined();
});

test('a package without the key has no rules', async () => {
  expect(await read('package.json', '{"name":"commitlint"}')).toEqual({ rules: undefined, notes: [] });
});

const checkoutOf = (files: Record<string, string | 'too large'>) =>
  ({
    listFolder: async () => Object.keys(files),
    readFile: async (_commit: string, path: string) => {
      const file = files[path];
      return file === undefined || file === 'too large' ? file : Buffer.from(file);
    },
  }) as unknown as Checkout;
const found = (files: Record<string, string>, commits: 'free' | 'conventional' = 'free') =>
  findCommitRules(checkoutOf(files), 'c', { commits });

test('a configuration implies the form; a program is not run, and gives the conventional rules', async () => {
  expect(await found({ 'package.json': '{"name":"x"}' })).toEqual({ rules: undefined, from: '', notes: [] });
  expect(await found({}, 'conventional')).toMatchObject({ rules: conventionalRules, from: '.deckhand.yml' });
  for (const name of ['commitlint.config.js', 'commitlint.config.mts', '.commitlintrc.cjs']) {
    const notes = [`${name} is a program, which is not run, so the conventional rules count`];
    expect(await found({ [name]: 'process.exit(1)' })).toEqual({ rules: conventionalRules, from: name, notes });
  }
  const own = { 'commitlint.config.js': '', '.commitlintrc.yml': 'rules: { type-enum: [2, always, [only]] }' };
  expect(await found(own)).toMatchObject({
    rules: { 'type-enum': [2, 'always', ['only']] },
    from: '.commitlintrc.yml',
  });
});

test('large and hostile configurations are bounded', async () => {
  for (const text of ['too large', ' '.repeat(70_000)])
    expect(await found({ '.commitlintrc.json': text })).toMatchObject({
      rules: conventionalRules,
      notes: ['.commitlintrc.json is too large, so the conventional rules count'],
    });
  expect((await found({ '.commitlintrc': `${'[ '.repeat(30_000)}` })).rules).toEqual(conventionalRules);
});

test('a whole message is checked by the rules', async () => {
  const message = 'feat: a\n\nBody.\n\nTask: task_1\nSigned-off-by: a <a@b.example>\n';
  expect(await problemsWithMessage(message, conventionalRules)).toEqual([]);
  expect(await problemsWithMessage(`feat: a\n\n${'x'.repeat(101)}\n`, conventionalRules)).toEqual([
    "body's lines must not be longer than 100 characters",
  ]);
  expect(await problemsWithMessage('anything', undefined)).toEqual([]);
});
