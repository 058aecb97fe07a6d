import { protectedChanges, rejection } from '../../src/worker/leaving/objection.ts';
import type { Work } from '../../src/worker/work.ts';
import { type Files, judge, said, workOn } from './repository-in-memory.ts';

test('ordinary changes cause no objection', async () => {
  expect(await said(workOn({ before: { a: '1', b: '1' }, now: { a: '2', c: '1' } }))).toBeUndefined();
});

test.each<[string, Files, Files]>([
  ['added', {}, { '.travis.yml': 'x' }],
  ['changed', { '.travis.yml': 'x' }, { '.travis.yml': 'y' }],
  ['deleted', { '.travis.yml': 'x' }, {}],
  ['made executable', { '.travis.yml': 'x' }, { '.travis.yml': '100755 x' }],
  ['replaced by a link', { '.travis.yml': 'x' }, { '.travis.yml': '120000 a' }],
  ['replaced by a folder', { '.travis.yml': 'x' }, { '.travis.yml/a': 'x' }],
  ['moved away', { '.travis.yml': 'x' }, { a: 'x' }],
  ['moved there', { a: 'x' }, { '.travis.yml': 'x' }],
])('a protected file is refused when %s', async (_how, before, now) => {
  expect(await said(workOn({ before, now }))).toMatch(
    /^- \.travis\.yml(\/a)? is protected by default, because Travis CI runs the commands in it; restore it$/m,
  );
});

test('each repository of a run is checked with its own settings', async () => {
  const trees = { before: {}, now: { '.husky/x': 'x', 'infra/x': 'x' } };
  const others = [workOn(trees, { settings: { allowed: ['.husky'], protected: ['infra'] } })];
  expect(await said(workOn({ before: {}, now: {} }, { others }))).toBe(
    '- ../docs/infra/x is protected by the .deckhand.yml of the repository; restore it',
  );
});

test("after a merge, only what differs from both the merged tree and the base counts as the agent's change", async () => {
  const branch = { base: 'base', conflicts: ['Jenkinsfile', 'a'] };
  const base = { Jenkinsfile: 'base', '.travis.yml': 'mended', a: 'x' };
  const joined = { Jenkinsfile: '<<<<<<< a\n', '.travis.yml': 'mended', a: '<<<<<<< a\n' };
  const before = { Jenkinsfile: 'ours', '.travis.yml': 'old', a: 'y' };
  const merged = (now: Files) => said(workOn({ before, base, joined, now }, { branch }));
  expect(await merged({ ...base, a: 'both' })).toBeUndefined();
  expect(await merged({ ...base, '.travis.yml': 'old' })).toMatch(/^- \.travis\.yml is protected by default/);
  expect(await merged({ ...base, Jenkinsfile: 'both' })).toMatch(/^- Jenkinsfile is protected by default/);
  expect(await merged({ ...base, a: '<<<<<<< a\n' })).toBe('- a still contains conflict markers');
});

test.each<[string, Files, Files, boolean]>([
  ['a new filter', {}, { '.gitattributes': '*.bin filter=lfs' }, true],
  ['a new filter in a folder', {}, { 'a/.gitattributes': '*.bin filter=lfs' }, true],
  ['a removed filter', { '.gitattributes': '*.bin filter=lfs' }, {}, true],
  ['a filter by a macro', { '.gitattributes': '[attr]big filter=x' }, { 'a/.gitattributes': '*.bin big' }, true],
  ['another attribute', { '.gitattributes': '*.a filter=x' }, { '.gitattributes': '*.a filter=x\n*.md text' }, false],
])('.gitattributes: %s', async (_what, before, now, isRefused) => {
  const all = { ...(before['.gitattributes'] && now['a/.gitattributes'] ? before : {}), ...now };
  const found = await said(workOn({ before, now: all }, { settings: { allowed: ['.gitattributes', 'a'] } }));
  expect(found?.includes('because it changes the filters of git') ?? false).toBe(isRefused);
});

const lfsRule = '*.png filter=lfs diff=lfs merge=lfs -text';

test.each<[string, Files, Files, boolean]>([
  ['a rule is added', {}, { '.gitattributes': `${lfsRule}\n*.md text\n` }, false],
  ['a rule is added in a folder', {}, { 'a/.gitattributes': lfsRule }, false],
  ['a rule is removed', { '.gitattributes': lfsRule }, {}, false],
  [
    'a rule is taken back',
    { '.gitattributes': lfsRule },
    { '.gitattributes': `${lfsRule}\n*.png -filter !diff text` },
    false,
  ],
  ['it names another filter, too', {}, { '.gitattributes': '*.png filter=lfs filter=x' }, true],
  ['it names a program for merges', {}, { '.gitattributes': '*.png filter=lfs merge=x' }, true],
  ['it sets a filter without a name', {}, { '.gitattributes': '*.png filter' }, true],
  ['it defines a macro', {}, { '.gitattributes': '[attr]big filter=lfs' }, true],
  ['its pattern is quoted', {}, { '.gitattributes': '"a b" filter=lfs' }, true],
  [
    'another filter is in use',
    { b: 'x', '.gitattributes': '*.key filter=crypt' },
    { 'a/.gitattributes': '* -filter' },
    true,
  ],
])('.gitattributes with checkout.lfs: %s', async (_what, before, now, isRefused) => {
  const all = { ...(before.b === undefined ? {} : before), ...now };
  const about = (lfs: boolean) =>
    said(workOn({ before, now: all }, { settings: { checkout: { submodules: false, lfs, paths: [] } } }));
  expect((await about(true))?.includes('because it changes the filters of git') ?? false).toBe(isRefused);
  expect(await about(false)).toContain('because it changes the filters of git');
});

test('what looks like a credential is held for a person, with its path and line; a live one is refused', async () => {
  const key = '-----BEGIN PRIVATE KEY-----\n';
  const trees = { before: { b: 'x AKIAIOSFODNN7EXAMPLE' }, now: { a: `1\n2\n${key}`, b: 'AKIAIOSFODNN7EXAMPLE' } };
  const others = [workOn({ before: {}, now: { 'x\ny': 'AKIAIOSFODNN7EXAMPLE' } })];
  expect(await judge(workOn(trees, { others }))).toEqual({
    refused: undefined,
    held: ['a:3 contains what looks like a private key', '../docs/x?y:1 contains what looks like an AWS access key'],
  });
  const live = workOn(trees);
  live.secrets.push(key.trim());
  expect(await judge(live)).toEqual({ refused: '- a contains a live credential', held: [] });
  const installation = workOn({ before: {}, now: { a: `ghs_${'a1B2'.repeat(9)}\nAKIAIOSFODNN7EXAMPLE` } });
  expect(await judge(installation)).toEqual({
    refused: "- a contains what looks like an App's token for GitHub",
    held: [],
  });
});

test('a person is asked about at most fifty places', async () => {
  const now = (files: number) =>
    Object.fromEntries(Array.from({ length: files }, (_, i) => [`${i}`, 'AKIAIOSFODNN7EXAMPLE\n']));
  const most = await judge(workOn({ before: {}, now: now(50) }));
  expect([most.refused, most.held.length]).toEqual([undefined, 50]);
  const more = await judge(workOn({ before: {}, now: now(51) }));
  expect(more.refused).toBe('- 51 places need the word of a person, who is asked about at most 50');
  const inOne = (count: number) => judge(workOn({ before: {}, now: { a: 'AKIAIOSFODNN7EXAMPLE\n'.repeat(count) } }));
  expect((await inOne(50)).held.at(-1)).toBe('a:50 contains what looks like an AWS access key');
  expect(await inOne(51)).toEqual({
    refused: '- a contains more than 50 strings that look like credentials',
    held: [],
  });
});

const [moved, forked] = ['b'.repeat(40), 'c'.repeat(40)];

test.each<[string, Partial<Work['task']>, string, string | undefined]>([
  ['the task names it', { title: 'Bump the submodule libs/lib' }, moved, undefined],
  ['the task names its last part', { description: 'Submodules: take `lib` to 2.0.' }, moved, undefined],
  ['the task does not speak of submodules', { title: 'Bump libs/lib' }, moved, `to ${moved}`],
  ['the task names another one', { title: 'Bump the submodule libs/other' }, moved, `to ${moved}`],
  ['a model wrote the task', { title: 'Bump the submodule lib', parentId: 't', createdBy: null }, moved, `to ${moved}`],
  [
    'the commit is no branch and no tag',
    { title: 'Bump the submodule lib' },
    forked,
    `to ${forked}, which is no branch or tag there`,
  ],
  ['the task names such a commit', { title: `Bump the submodule lib to ${forked}` }, forked, undefined],
  ['nobody moved it in this run', { title: 'Bump the submodule lib' }, 'd'.repeat(40), `to ${'d'.repeat(40)}`],
])('a submodule moves: %s', async (_what, task, commit, held) => {
  const trees = { before: { 'libs/lib': `160000 ${'a'.repeat(40)}` }, now: { 'libs/lib': `160000 ${commit}` } };
  const work = workOn(trees);
  work.task = { title: 'x', description: '', parentId: null, createdBy: 'u', ...task } as Work['task'];
  const isHead = (_path: string, id: string) => (id === moved ? true : id === forked ? false : undefined);
  work.checkout.submodules = { isHead } as Work['checkout']['submodules'];
  expect(await judge(work)).toEqual({
    refused: undefined,
    held: held === undefined ? [] : [`libs/lib is a submodule that moves from ${'a'.repeat(12)} ${held}`],
  });
});

test('a submodule that is added, or takes the place of a file, is refused', async () => {
  const now = { lib: `160000 ${moved}` };
  for (const before of [{}, { lib: 'a file' }])
    expect(await judge(workOn({ before, now }))).toEqual({
      refused: '- lib is a submodule, which agents may not add',
      held: [],
    });
});

test('a merge may leave .gitattributes as it is on the base branch', async () => {
  const branch = { base: 'base', conflicts: ['.gitattributes'] };
  const base = { '.gitattributes': '*.a filter=x\n*.b text' };
  const joined = { '.gitattributes': '<<<<<<< a\n*.a filter=x\n=======\n*.a filter=x\n*.b text\n>>>>>>> b\n' };
  const before = { '.gitattributes': '*.a filter=x\n*.c text' };
  const merged = (text: string) => said(workOn({ before, base, joined, now: { '.gitattributes': text } }, { branch }));
  expect(await merged('*.a filter=x\n*.b text\n*.c text')).toBeUndefined();
  expect(await merged('*.a filter=y\n*.b text')).toMatch(/changes the filters of git/);
});

test('a merge may take .gitattributes of up to 200,000 bytes from the base branch', async () => {
  const branch = { base: 'base', conflicts: ['.gitattributes'] };
  const taken = (bytes: number) => {
    const text = `*.a filter=x\n${'#'.repeat(bytes - '*.a filter=x\n'.length)}`;
    const of = (each: string) => ({ '.gitattributes': each });
    return said(workOn({ before: {}, base: of(text), joined: of('*.b text'), now: of(`${text}!`) }, { branch }));
  };
  expect(await taken(200_000)).toBeUndefined();
  expect(await taken(200_001)).toMatch(/changes the filters of git/);
});

test('of very many .gitattributes files, and of very long ones, the last count as changed filters', async () => {
  const settings = { allowed: ['**'] };
  const refusedOf = async (count: number, text: string) => {
    const now = Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}/.gitattributes`, `${text}# ${i}`]));
    return (await said(workOn({ before: {}, now }, { settings })))?.split('\n').length ?? 0;
  };
  expect(await refusedOf(200, '*.md text\n')).toBe(0);
  expect(await refusedOf(203, '*.md text\n')).toBe(3);
  // 4 MB are read, and the file that exceeds them.
  expect(await refusedOf(25, `*.md ${'a '.repeat(97_000)}\n`)).toBe(4);
});

test('a file name cannot forge an objection; many objections are counted; only if all are conflicts is the category conflict', async () => {
  const odd = { 'x\n- y still contains conflict markers/.husky': 'x' };
  const one = (await said(workOn({ before: {}, now: odd }))) ?? '';
  expect(one.split('\n')).toHaveLength(1);
  expect(rejection(one).failure.category).toBe('push_rejected');
  const now = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`.husky/${i}`, 'x']));
  const torn = { before: { a: 'x' }, base: { a: 'y' }, joined: { a: 'z' }, now: { ...now, a: '<<<<<<< a\n' } };
  const many = (await said(workOn(torn, { branch: { base: 'base', conflicts: ['a'] } }))) ?? '';
  expect(many.split('\n')).toHaveLength(51);
  expect(many).toMatch(/\n- and 21 more$/);
  expect(rejection(many).failure.category).toBe('push_rejected');
  // One objection is a sentence, several are a list.
  expect(rejection('- a still contains conflict markers').failure).toMatchObject({
    category: 'conflict',
    message: 'a still contains conflict markers',
  });
  expect(rejection(many).failure.message).toMatch(/^The change cannot be pushed:\n- \.husky\/0 /);
});

test('conflicts come after the objections of all repositories', async () => {
  const torn = { before: { a: 'x' }, base: { a: 'y' }, joined: { a: 'z' }, now: { a: '<<<<<<< a\n' } };
  const others = [workOn({ before: {}, now: { Jenkinsfile: 'x' } })];
  const found = (await said(workOn(torn, { branch: { base: 'base', conflicts: ['a'] }, others }))) ?? '';
  expect(found).toMatch(/^- \.\.\/docs\/Jenkinsfile is protected .*\n- a still contains conflict markers$/);
  expect(rejection(found).failure.category).toBe('push_rejected');
});

test('up to fifty objections are all named, and a long path is cut', async () => {
  const now = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`.husky/${i}`, 'x']));
  expect((await said(workOn({ before: {}, now })))?.split('\n').at(-1)).toMatch(/^- \.husky\/49 /);
  const long = `.husky/${'x'.repeat(400)}`;
  expect(await said(workOn({ before: {}, now: { [long]: 'x' } }))).toMatch(/^- \.husky\/x{293} is protected/);
});

test('where the .gitattributes of the repository is too large to read, any change of one is refused', async () => {
  const small = '*.a text\n';
  const mostBytes = 200_000;
  const begins = (bytes: number) => small + '#'.repeat(bytes - small.length);
  const settings = { allowed: ['.gitattributes', 'a'] };
  const about = async (root: string | 'too large') => {
    const work = workOn(
      { before: { '.gitattributes': root }, now: { '.gitattributes': root, 'a/.gitattributes': '*.md text' } },
      { settings },
    );
    if (root === 'too large') Object.assign(work.checkout, { readFile: async () => 'too large' });
    return said(work);
  };
  expect(await about(begins(mostBytes))).toBeUndefined();
  for (const root of [begins(mostBytes + 1), 'too large'])
    expect(await about(root)).toBe(
      '- a/.gitattributes is protected by default, because it changes the filters of git; restore it',
    );
});

/** Returns whether other requests are served while changes to these files are checked. */
async function areOthersServed(paths: string[]): Promise<boolean> {
  const now = Object.fromEntries(paths.map((path) => [path, 'x']));
  const { checkout, branch, settings } = workOn({ before: {}, now });
  const changes = await checkout.changes('before', 'now');
  let isServed = false;
  setImmediate(() => {
    isServed = true;
  });
  await protectedChanges(settings, changes, { checkout, origin: { ...branch, tree: 'now' } });
  return isServed;
}

test('other requests are served while many paths are judged, and after each file with attributes', async () => {
  expect(await areOthersServed(Array.from({ length: 50_000 }, (_, i) => `src/${i}`))).toBe(true);
  expect(await areOthersServed(['.gitattributes'])).toBe(true);
});
