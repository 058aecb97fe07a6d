import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { choosing, clone, commit, commitMore, hostSubmodules, open, section, url } from './submodule-host.ts';

hostSubmodules();

let first: string;

/** Opens a checkout whose submodule libs/lib has further commits. */
async function opened(given = choosing()) {
  open.add('mona/lib').add('mona/deep');
  const deep = commit('mona/deep', { 'deep.txt': 'deep\n' });
  first = commit(
    'mona/lib',
    { 'lib.txt': '1\n', 'old.txt': 'old\n', '.gitmodules': section('in', '../deep') },
    { in: deep },
  );
  commit('mona/main', { 'a.txt': 'a\n', '.gitmodules': section('libs/lib', '../lib') }, { 'libs/lib': first });
  const { checkout, head, place, read } = await clone(given);
  await checkout.checkout(head);
  await checkout.remember();
  const { submodules } = checkout;
  if (submodules === undefined) throw new Error('no submodules');
  const ready: string[] = [];
  const move = (path: string, revision: string) =>
    submodules.move(path, revision, async (folder) => void ready.push(folder));
  const base = await checkout.treeOf(head);
  const changes = async () => checkout.changes(base, await checkout.snapshot());
  const refusal = (path: string, revision: string) =>
    move(path, revision).then(String, ({ message }) => String(message));
  return { checkout, place, read, move, refusal, ready, changes, isHead: submodules.isHead };
}

test('a submodule moves to a tag: its files are replaced, and the change has its commit', async () => {
  const { checkout, place, read, move, ready, changes, isHead } = await opened();
  const second = commitMore('mona/lib', { 'lib.txt': '2\n', 'old.txt': null, 'new.txt': 'new\n' }, 'refs/tags/v2');
  writeFileSync(join(place, 'work/libs/lib/stray.txt'), 'by the agent\n');
  expect(await move('./libs/lib/', 'v2')).toBe(second);
  expect(readdirSync(join(place, 'work/libs/lib')).sort()).toEqual(['.gitmodules', 'in', 'lib.txt', 'new.txt']);
  expect([read('libs/lib/lib.txt'), read('libs/lib/in/deep.txt')]).toEqual(['2\n', 'deep\n']);
  const modes = { oldMode: '160000', newMode: '160000' };
  expect(await changes()).toEqual([{ path: 'libs/lib', ...modes, oldOid: first, newOid: second }]);
  expect([isHead('libs/lib', second), isHead('libs/lib', first)]).toEqual([true, undefined]);
  // Nothing is left beside the work tree, and checks get the same files.
  expect(ready.map((folder) => existsSync(folder))).toEqual([false]);
  const copy = join(place, 'copy');
  mkdirSync(copy);
  await checkout.export(await checkout.snapshot(), copy);
  expect(readFileSync(join(copy, 'libs/lib/new.txt'), 'utf8')).toBe('new\n');
  // Back again.
  expect(await move('libs/lib', first.toUpperCase())).toBe(first);
  expect([await changes(), read('libs/lib/old.txt')]).toEqual([[], 'old\n']);
});

test('a branch, and a commit that is neither branch nor tag', async () => {
  const { move, changes, isHead } = await opened();
  const second = commitMore('mona/lib', { 'lib.txt': '2\n' }, 'refs/heads/release/2.x');
  expect(await move('libs/lib', 'release/2.x')).toBe(second);
  const third = commitMore('mona/lib', { 'lib.txt': '3\n' }, 'refs/pull/1/head');
  expect(await move('libs/lib', third)).toBe(third);
  expect([isHead('libs/lib', second), isHead('libs/lib', third)]).toEqual([undefined, false]);
  expect(await changes()).toMatchObject([{ oldOid: first, newOid: third }]);
});

test('what cannot be moved says why, and nothing changes', async () => {
  const { refusal, ready, changes, read } = await opened();
  const unknown = 'a'.repeat(40);
  expect(await refusal('libs', 'main')).toBe(
    'the submodule libs: the repository has none there; its submodules are: libs/lib',
  );
  expect(await refusal('libs/lib/in', 'main')).toMatch(/^the submodule libs\/lib\/in: the repository has none there/);
  expect(await refusal('libs/lib', 'v9')).toBe(
    `the submodule libs/lib: ${url}/mona/lib has no branch or tag v9; name one of its branches or tags, or all 40 characters of a commit`,
  );
  expect(await refusal('libs/lib', first.slice(0, 12))).toMatch(/or all 40 characters of a commit$/);
  expect(await refusal('libs/lib', '--upload-pack=x')).toMatch(/has no branch or tag --upload-pack=x;/);
  expect(await refusal('libs/lib', unknown)).toMatch(`has no commit ${unknown}`);
  open.delete('mona/lib');
  expect(await refusal('libs/lib', 'main')).toMatch(/cannot be fetched without credentials/);
  expect([ready, await changes(), read('libs/lib/lib.txt')]).toEqual([[], [], '1\n']);
});

test('.gitmodules of the workspace does not say where a submodule comes from', async () => {
  const { place, move } = await opened();
  open.add('mona/other');
  commit('mona/other', { 'lib.txt': 'other\n' });
  writeFileSync(join(place, 'work/.gitmodules'), section('libs/lib', '../other'));
  expect(await move('libs/lib', 'main')).toBe(first);
});

test('no file is written through a link that an agent put in the place of a folder', async () => {
  const { place, refusal, read, move } = await opened();
  const outside = join(place, 'outside');
  mkdirSync(join(outside, 'lib'), { recursive: true });
  writeFileSync(join(outside, 'lib/mine.txt'), 'mine\n');
  renameSync(join(place, 'work/libs'), join(place, 'work/away'));
  symlinkSync(outside, join(place, 'work/libs'));
  expect(await refusal('libs/lib', 'main')).toBe('the submodule libs/lib: libs is no folder any more; restore it');
  expect(readdirSync(join(outside, 'lib'))).toEqual(['mine.txt']);
  // A link in the place of the submodule gives way, and its target stays.
  rmSync(join(place, 'work/libs'));
  mkdirSync(join(place, 'work/libs'));
  symlinkSync(join(outside, 'lib'), join(place, 'work/libs/lib'));
  await move('libs/lib', 'main');
  expect([read('libs/lib/lib.txt'), readdirSync(join(outside, 'lib'))]).toEqual(['1\n', ['mine.txt']]);
});

test('only a submodule in the chosen folders can be moved', async () => {
  const { refusal } = await opened(choosing({ paths: ['src'] }));
  expect(await refusal('libs/lib', 'main')).toMatch(/it is not in the workspace, because checkout.paths/);
});
