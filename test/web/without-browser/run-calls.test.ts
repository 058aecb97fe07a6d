import { type Call, isFailed, meaningOf, outcomeOf, smallDiff, titleOf } from '../../../src/web/runs/calls.ts';

// What the page of a run makes of the calls of tools.

describe('what a call does', () => {
  const meaning = (name: string, given: unknown) => {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    const { kind, about, edits } = meaningOf({ name, about: 'from the log', arguments: text });
    return [kind, about, edits.length];
  };
  test.each([
    ['run_command', { command: 'npm test' }, ['command', 'npm test', 0]],
    ['exec', { cmd: ['bash', '-lc', 'make'] }, ['command', 'bash -lc make', 0]],
    ['str_replace_based_edit_tool', { command: 'view', path: 'a.js' }, ['other', 'a.js', 0]],
    ['str_replace_editor', { command: 'str_replace', path: 'a.js', old_str: 'x', new_str: '' }, ['edit', 'a.js', 1]],
    [
      'edit_file',
      { path: 'a.js', edits: [{ old: 'x', new: 'y' }, { old_string: 'p', new_string: 'q' }, 3] },
      ['edit', 'a.js', 2],
    ],
    ['write', { file_path: 'b.js', contents: 'x' }, ['edit', 'b.js', 1]],
    [
      'apply_patch',
      { patch: '*** Begin Patch\n*** Update File: c.js\n@@\n-x\n+y\n*** End Patch' },
      ['edit', 'c.js', 1],
    ],
    ['delete_file', { path: 'd.js' }, ['edit', 'd.js', 0]],
    ['read_file', { path: 'd.js' }, ['other', 'd.js', 0]],
    ['search', { pattern: 'x', path: 'src' }, ['other', 'x in src', 0]],
    ['docs__write', { path: 'page', content: 'text' }, ['other', 'page', 0]],
    ['finish', { summary: 'Done.' }, ['other', 'Done.', 0]],
    ['run_command', '{"command": "never clo', ['other', 'from the log', 0]],
    ['run_command', '[1]', ['other', 'from the log', 0]],
    ['run_command', { command: { deep: true } }, ['other', 'from the log', 0]],
  ])('%s %j', (name, given, expected) => expect(meaning(name, given)).toEqual(expected));

  test('before the turn is stored, the name in the log decides', () => {
    const kinds = ['run_command', 'apply_patch', 'read_file', 'constructor'].map(
      (name) => meaningOf({ name, about: 'a', arguments: undefined }).kind,
    );
    expect(kinds).toEqual(['command', 'edit', 'other', 'other']);
  });
});

test.each([
  ['[exit code 0] after 1.2 s\nout\n', { how: 'exit code 0', exitCode: 0, seconds: 1.2, output: 'out\n' }, false],
  ['[exit code 137] after 12 s', { how: 'exit code 137', exitCode: 137, seconds: 12, output: '' }, true],
  ['[stopped after 120 s]\n…', { how: 'stopped after 120 s', exitCode: undefined, output: '…' }, true],
  ['[ended by SIGKILL] after 3.0 s', { how: 'ended by SIGKILL', seconds: 3 }, true],
  ['[1, 2, 3]', { how: undefined, output: '[1, 2, 3]' }, false],
])('the result %j of a command tells how it ended', (result, expected, failed) => {
  expect(outcomeOf(result)).toMatchObject(expected);
  const call: Call = { name: 'x', about: '', arguments: '{}', result, ok: true, exitCode: undefined, ms: undefined };
  expect([isFailed(call), isFailed({ ...call, ok: false })]).toEqual([failed, true]);
});

test('a small diff has the changed lines with two lines around them', () => {
  const lines = (text: string) => text.split('').join('\n');
  const drawn = smallDiff([{ before: lines('abcdefg'), after: lines('abcXYefg') }]).map(
    ({ sign, text }) => sign + text,
  );
  expect(drawn).toEqual([' b', ' c', '-d', '+X', '+Y', ' e', ' f']);
  const both = smallDiff([
    { before: '', after: 'new\n' },
    { patch: '*** Begin Patch\n*** Update File: a\n@@ f\n same\n-old\n+++i;\n*** End Patch' },
  ]);
  expect(both.map(({ sign, text }) => sign + text)).toEqual([
    '+new',
    '@',
    '@*** Update File: a',
    '@@@ f',
    ' same',
    '-old',
    '+++i;',
  ]);
  expect(smallDiff([{ before: 'a\n', after: 'a' }])).toEqual([{ sign: ' ', text: 'a' }]);
});

test('a call is named by what it does; tools of other servers keep their names', () => {
  const call = (name: string, about: string, given?: object) =>
    titleOf({ name, about, arguments: given === undefined ? undefined : JSON.stringify(given) });
  expect(call('read_file', 'src/a.js')).toBe('Read src/a.js');
  expect(call('run_command', '', { command: 'npm test\nnpm run lint' })).toBe('Run npm test');
  expect(call('docs__search', 'proof')).toBe('docs__search proof');
  expect(call('constructor', '')).toBe('constructor');
});
