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

test('a repository full of protected links is judged in time, and too many are refused', async () => {
  const links = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}/.husky`, '120000 ../a']));
  const now = (count: number) => ({ before: { ...links(count), 'a/x': '1' }, now: { ...links(count), 'a/x': '2' } });
  const began = performance.now();
  expect(await said(workOn(now(9_000)))).toMatch(/^- a\/x is also 0\/\.husky\/x by a link/);
  await expect(said(workOn(now(11_000)))).rejects.toThrow('too many others to be followed');
  expect(performance.now() - began).toBeLessThan(20_000);
});

test('links that agents may add neither hide a protected one nor keep others waiting', async () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`l${i}`, '120000 hooks/x']));
  const deep = (next: string) => `120000 ${'a/'.repeat(800)}${'../'.repeat(800)}${next}`;
  const chain = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`c${i}`, deep(`c${i + 1}`)]));
  const before = { ...many, ...chain, '.husky': '120000 hooks', 'hooks/x': '1' };
  const began = performance.now();
  expect(await said(workOn({ before, now: { ...before, 'hooks/x': '2' } }))).toContain(
    'hooks/x is also .husky/x by a link',
  );
  expect(await said(workOn({ before, now: { ...before, 'plain.txt': '2' } }))).toBeUndefined();
  expect(performance.now() - began).toBeLessThan(10_000);
  // One that people have made is followed, although that takes a while.
  const made = { ...before, '.idea': '120000 c5', c40: '120000 z' };
  expect(await said(workOn({ before: made, now: { ...made, z: '1' } }))).toMatch(/^- z is also \.idea by a link/);
  const all = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}/.husky`, '120000 ../c5']));
  const many40 = workOn({ before: { ...made, ...all }, now: { ...made, ...all, z: '1' } });
  await expect(said(many40)).rejects.toThrow('too many others to be followed');
});

test('names that become longer with each link are refused before they fill the memory', async () => {
  const folder = Array.from({ length: 4 }, () => 'x'.repeat(250)).join('/');
  const chain = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`d${i}/${folder}/l`, `120000 ../../../../../d${i + 1}`]),
  );
  const before: Files = { '.husky': '120000 d0', 'a.txt': 'a', ...chain };
  await expect(said(workOn({ before, now: { ...before, 'a.txt': 'b' } }))).rejects.toThrow('too many others');
});

test('a change of many files, each with many protected names, is refused in time', async () => {
  const links = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}/.vscode`, '120000 ../a']));
  const files = (text: string) => Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`a/${i}`, text]));
  const work = workOn({ before: { ...links, ...files('old') }, now: { ...links, ...files('new') } });
  await expect(said(work)).rejects.toThrow('too many others');
});

test('a link that some file system takes for a folder on the way hides nothing', async () => {
  const before = { '.vscode': '120000 conf/editor', 'conf/editor/tasks.json': '1', plain: '1' };
  const twin = { ...before, Conf: '120000 plain' };
  expect(await said(workOn({ before, now: twin }))).toMatch(/^- Conf is also \.vscode by a link/);
  const changed = { 'conf/editor/tasks.json': '2' };
  expect(await said(workOn({ before: twin, now: { ...twin, ...changed } }))).toMatch(
    /^- conf\/editor\/tasks\.json is also \.vscode\/tasks\.json/,
  );
});

test('names behind links are compared as they are written', async () => {
  const before = { deploy: '120000 r1', '.devcontainer': '120000 ops/dev', 'r1/x': '1', 'ops/dev/x': '1' };
  const names = ['机密（内部）.txt', 'straße.txt', 'a:b', 'End '];
  const settings = { protected: names.map((name) => `deploy/${name}`), allowed: ['.devcontainer/Dockerfile'] };
  for (const name of names)
    expect(await said(workOn({ before, now: { ...before, [`r1/${name}`]: '1' } }, { settings }))).toContain(
      'by a link',
    );
  expect(await said(workOn({ before, now: { ...before, 'ops/dev/Dockerfile': '1' } }, { settings }))).toBeUndefined();
});

test('what the patterns of a repository protect is protected under other names, too', async () => {
  const settings = { protected: ['deploy/keys.txt', 'src/**/gen', '{ops,infra}/a/*.tf', '**/*.lock'] };
  const about = (before: Files, now: Files) => said(workOn({ before, now }, { settings }));
  const of = 'protected by the .deckhand.yml of the repository; restore it';
  const base = { 'r1/keys.txt': '1', 'r2/keys.txt': '2', 'r1/a': '1' };
  for (const link of ['deploy', 'infra/a', 'ops', 'src', 'src/x/y'])
    expect(await about(base, { ...base, [link]: '120000 r1' })).toMatch(new RegExp(`^- ${link} is ${of}$`));
  // A link to a file, or to a folder whose files are protected under any path, gives nothing another name.
  for (const [link, to] of Object.entries({ 'src/b': '../r1/a', lib: 'r1' }))
    expect(await about(base, { ...base, [link]: `120000 ${to}` })).toBeUndefined();
  const linked = { ...base, deploy: '120000 current', current: '120000 r1' };
  const { 'r1/keys.txt': _gone, ...without } = linked;
  for (const now of [{ ...linked, 'r1/keys.txt': '2' }, without])
    expect(await about(linked, now)).toBe(`- r1/keys.txt is also deploy/keys.txt by a link, which is ${of}`);
  expect(await about(linked, { ...linked, current: '120000 r2' })).toBe(
    `- current is also deploy by a link, which is ${of}`,
  );
  expect(await about(linked, { ...linked, 'r1/a': '2' })).toBeUndefined();
});

test('a submodule in the place of a protected folder is not moved', async () => {
  const move = (path: string) => workOn({ before: { [path]: '160000 a' }, now: { [path]: '160000 b' } });
  expect(await said(move('.claude'))).toMatch(/^- \.claude is protected by default, because coding agents/m);
  for (const path of ['lib', 'docs']) expect(await said(move(path))).toBeUndefined();
  const husky = { '.husky': '120000 lib/hooks' };
  const below = workOn({ before: { ...husky, lib: '160000 a' }, now: { ...husky, lib: '160000 b' } });
  expect(await said(below)).toMatch(/^- lib is also \.husky by a link, which is protected by default/);
});
