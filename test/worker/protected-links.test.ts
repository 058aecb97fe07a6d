import { type Files, said, workOn } from './repository-in-memory.ts';

const husky = 'it runs on the machine of everyone who commits';
const opening = 'it runs on the machine of everyone who opens the folder';
test.each<[string, Files, Files, string | undefined]>([
  [
    'a new link in the place of a protected folder',
    {},
    { 'a/.vscode': '120000 ../z' },
    `a/.vscode is protected by default, because ${opening}`,
  ],
  ['a link there that is gone', { '.vscode': '120000 z' }, {}, `.vscode is protected by default, because ${opening}`],
  ['a link beside a protected file', {}, { 'docs/guide': '120000 ../z' }, undefined],
  [
    'what a protected link leads to',
    { '.husky': '120000 tools/hooks', 'tools/hooks/pre-commit': '1' },
    { '.husky': '120000 tools/hooks', 'tools/hooks/pre-commit': '2' },
    `tools/hooks/pre-commit is also .husky/pre-commit by a link, which is protected by default, because ${husky}`,
  ],
  [
    'what it leads to on a Mac',
    { '.husky': '120000 tools/hooks' },
    { '.husky': '120000 tools/hooks', 'Tools/Hooks/x': '1' },
    `Tools/Hooks/x is also .husky/x by a link, which is protected by default, because ${husky}`,
  ],
  [
    'a link on the way, and what it leads to',
    { '.husky': '120000 a/./b', 'a/b/x': '1' },
    { '.husky': '120000 a/./b', 'a/b': '120000 ../c/../d', 'd/x': '2' },
    `a/b is also .husky by a link, which is protected by default, because ${husky}`,
  ],
  [
    'the end of such a way',
    { '.husky': '120000 b', b: '120000 ./d', 'd/x': '1' },
    { '.husky': '120000 b', b: '120000 ./d', 'd/x': '2' },
    `d/x is also .husky/x by a link, which is protected by default, because ${husky}`,
  ],
  [
    'a link inside of what a protected link leads to',
    { '.husky': '120000 hooks', 'hooks/x': '120000 ../y', y: '1' },
    { '.husky': '120000 hooks', 'hooks/x': '120000 ../y', y: '2' },
    `y is also .husky/x by a link, which is protected by default, because ${husky}`,
  ],
  [
    'a protected name in what a link to the root leads to',
    { 'sub/.vscode': '120000 ..', 'tasks.json': '1', 'other.json': '1' },
    { 'sub/.vscode': '120000 ..', 'tasks.json': '2', 'other.json': '2' },
    `tasks.json is also sub/.vscode/tasks.json by a link, which is protected by default, because ${opening}`,
  ],
  [
    'another file beside it',
    { '.vscode': '120000 editor', 'editor/launch.json': '1' },
    { '.vscode': '120000 editor', 'editor/launch.json': '2' },
    undefined,
  ],
  [
    'links in a circle and out of the repository',
    { '.husky': '120000 .husky', '.idea': '120000 ../x', '.vscode': '120000 /x', a: '1' },
    { '.husky': '120000 .husky', '.idea': '120000 ../x', '.vscode': '120000 /x', a: '2' },
    undefined,
  ],
])('%s is judged by the protected name', async (_what, before, now, objection) => {
  const found = await said(workOn({ before, now }));
  if (objection === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(`- ${objection}; restore it`);
});

test('what a protected link leads to may be changed where the settings allow the link', async () => {
  const before = { '.claude/skills': '120000 ../skills', 'skills/a.md': '1' };
  const work = (allowed: string[]) =>
    workOn({ before, now: { ...before, 'skills/a.md': '2' } }, { settings: { allowed } });
  expect(await said(work(['.claude/skills']))).toBeUndefined();
  expect(await said(work(['.claude/agents']))).toMatch(/^- skills\/a\.md is also \.claude\/skills\/a\.md by a link/);
});

test('what the patterns of a repository protect is protected under other names, too', async () => {
  const settings = { protected: ['deploy/keys.txt'] };
  const of = 'which is protected by the .deckhand.yml of the repository; restore it';
  const [file, link] = [{ 'x/keys.txt': '1', 'x/a': '1' }, { deploy: '120000 x' }];
  const added = workOn({ before: file, now: { ...file, ...link } }, { settings });
  expect(await said(added)).toBe(`- deploy is also deploy/keys.txt by a link, ${of}`);
  const now = { 'x/keys.txt': '2', 'x/a': '2', ...link };
  const changed = workOn({ before: { ...file, ...link }, now }, { settings });
  expect(await said(changed)).toBe(`- x/keys.txt is also deploy/keys.txt by a link, ${of}`);
});

test('a submodule in the place of a protected folder is not moved', async () => {
  const move = (path: string) => workOn({ before: { [path]: '160000 a' }, now: { [path]: '160000 b' } });
  expect(await said(move('.claude'))).toMatch(/^- \.claude is protected by default, because coding agents/m);
  expect(await said(move('lib'))).toBeUndefined();
});

test('a repository full of links that lead to each other is judged in time', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => [`${i}/.husky`, '120000 ..']);
  const before = { ...Object.fromEntries(many), '.husky': '120000 .', a: '1' };
  const began = performance.now();
  expect(await said(workOn({ before, now: { ...before, a: '2' } }))).toMatch(/^- a is also \.husky\/a by a link/);
  expect(performance.now() - began).toBeLessThan(20_000);
});
