import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertSubmodules, chooseFiles, toldOfFiles } from '../../../src/environment/files/choose-files.ts';
import { Submodules } from '../../../src/environment/files/submodules.ts';
import { isomorphicProcess } from '../../../src/git/javascript/isomorphic-process.ts';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { asked, choosing, clone, commit, hostSubmodules, open, section, url } from './submodule-host.ts';

hostSubmodules();

test('submodules, also nested ones, are written into the workspace and into copies of it', async () => {
  open.add('mona/lib').add('mona/deep');
  const deep = commit('mona/deep', { 'deep.txt': 'deep\n' });
  const lib = commit(
    'mona/lib',
    { 'lib.txt': 'lib\n', '.gitmodules': section('in/deep', '../deep') },
    { 'in/deep': deep },
  );
  const more = '\tupdate = !touch /tmp/deckhand-submodule-ran\n\tbranch = other\n\tshallow = false\n';
  commit(
    'mona/main',
    { 'a.txt': 'a\n', '.gitmodules': section('libs/lib', `${url}/mona/lib.git`, more) },
    { 'libs/lib': lib },
  );
  const { checkout, head, place, read } = await clone();
  await checkout.checkout(head);
  expect([read('libs/lib/lib.txt'), read('libs/lib/in/deep/deep.txt')]).toEqual(['lib\n', 'deep\n']);
  expect(existsSync('/tmp/deckhand-submodule-ran')).toBe(false);
  expect(existsSync(join(place, 'work/libs/lib/.git'))).toBe(false);
  const copy = join(place, 'copy');
  mkdirSync(copy);
  await checkout.export(await checkout.treeOf(head), copy);
  expect(readFileSync(join(copy, 'libs/lib/in/deep/deep.txt'), 'utf8')).toBe('deep\n');
  // Submodules get no token, and each commit is fetched once.
  expect(asked.filter((each) => each.startsWith('mona/lib')).every((each) => each === 'mona/lib undefined')).toBe(true);
  expect(asked.filter((each) => each.startsWith('mona/main')).every((each) => each.endsWith('run-token'))).toBe(true);
});

test('a change inside a submodule is not part of the change, and neither is its removal', async () => {
  open.add('mona/lib');
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../lib') }, { lib });
  const { checkout, head, place } = await clone();
  await checkout.checkout(head);
  await checkout.remember();
  const before = await checkout.treeOf(head);
  writeFileSync(join(place, 'work/lib/lib.txt'), 'changed\n');
  writeFileSync(join(place, 'work/lib/new.txt'), 'new\n');
  expect(await checkout.snapshot()).toBe(before);
  rmSync(join(place, 'work/lib'), { recursive: true });
  expect(await checkout.snapshot()).toBe(before);
});

test('a private repository is not fetched with the token of the run', async () => {
  const lib = commit('mona/private', { 'secret.txt': 's\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../private') }, { lib });
  const { checkout, head, place } = await clone();
  await expect(checkout.checkout(head)).rejects.toThrow(
    `the submodule lib: ${url}/mona/private cannot be fetched without credentials; if it is private, connect it to the project`,
  );
  expect(asked).not.toContain('mona/private run-token');
  expect(existsSync(join(place, 'work/lib/secret.txt'))).toBe(false);
});

test('a commit that its repository does not have', async () => {
  open.add('mona/lib');
  commit('mona/lib', { 'lib.txt': 'lib\n' });
  commit('mona/main', { '.gitmodules': section('lib', '../lib') }, { lib: 'a'.repeat(40) });
  const { checkout, head } = await clone();
  await expect(checkout.checkout(head)).rejects.toThrow(
    /the submodule lib: .*\/mona\/lib has no commit a{40}; push it there/,
  );
});

test.each([
  ['file:///etc', 'must be an https address'],
  ['/etc', 'must be an https address'],
  ['git@github.com:a/b.git', 'must be an https address'],
  ['ssh://git@example.com/a/b', 'must be an https address'],
  ['ext::sh -c touch% /tmp/x', 'must be an https address'],
  ['--upload-pack=x', 'must be an https address'],
  ['https://user:pass@example.com/a/b', 'must not contain a user name'],
  ['https://127.0.0.1/a/b', 'must not name a private'],
  ['https://169.254.169.254/a/b', 'must not name a private'],
  ['http://example.com/a/b', 'must begin with https://'],
  ['https://other.example.com/a/b', 'add other.example.com to network.setup in .deckhand.yml'],
  ['https://mirror.example.org:8443/a/b', 'add mirror.example.org:8443 to network.setup'],
  ['../../..//evil.example.com/x', 'must not have empty parts'],
])('the address %s is refused, before anything is fetched', async (address, why) => {
  commit('mona/main', { '.gitmodules': section('lib', address) }, { lib: 'a'.repeat(40) });
  const given = choosing({}, ['mirror.example.org']);
  const { checkout, head } = await clone(given);
  asked.splice(0);
  await expect(assertSubmodules(checkout, given, head)).rejects.toThrow(why);
  await expect(checkout.checkout(head)).rejects.toMatchObject({ failure: { category: 'repository' } });
  expect(asked).toEqual([]);
});

test('a host from which set-up may download is allowed', async () => {
  commit('mona/main', { '.gitmodules': section('lib', 'https://mirror.example.org/a/b') }, { lib: 'a'.repeat(40) });
  const given = choosing({}, ['mirror.example.org']);
  const { checkout, head } = await clone(given);
  await assertSubmodules(checkout, given, head);
});

test('a submodule without an address', async () => {
  commit('mona/main', { 'a.txt': 'a\n' }, { lib: 'a'.repeat(40) });
  const given = choosing();
  const { checkout, head } = await clone(given);
  await expect(assertSubmodules(checkout, given, head)).rejects.toThrow(
    'the submodule lib: .gitmodules names no address',
  );
});

test('submodules that are nested too deep, or are too many', async () => {
  let last = commit('mona/d0', { 'x.txt': 'x\n' });
  open.add('mona/d0');
  for (let i = 1; i <= 3; i++) {
    open.add(`mona/d${i}`);
    last = commit(`mona/d${i}`, { '.gitmodules': section('s', `../d${i - 1}`) }, { s: last });
  }
  commit('mona/main', { '.gitmodules': section('s', '../d3') }, { s: last });
  const nested = await clone();
  await expect(nested.checkout.checkout(nested.head)).rejects.toThrow('the submodule s/s/s/s: submodules are nested');
  const links = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`s${i}`, last]));
  commit('mona/main', { '.gitmodules': '' }, links);
  const many = await clone();
  await expect(many.checkout.checkout(many.head)).rejects.toThrow('there are more than 50 submodules');
});

test('what hosts send for all submodules of a run has a limit, whatever size their files have', async () => {
  // Their names fill the packs of these empty files.
  const empty = () => Object.fromEntries(Array.from({ length: 200 }, () => [randomBytes(60).toString('hex'), '']));
  const links: Record<string, string> = {};
  for (const name of ['one', 'two', 'three']) {
    open.add(`mona/${name}`);
    links[name] = commit(`mona/${name}`, empty());
  }
  commit(
    'mona/main',
    {
      '.gitmodules': Object.keys(links)
        .map((name) => section(name, `../${name}`))
        .join(''),
    },
    links,
  );
  const { app, remote, signal } = choosing();
  const place = async (maxBytes: number) => {
    const { checkout, head, place: folder } = await clone(choosing({ submodules: false }));
    const submodules = new Submodules({ app, remote, hosts: [], signal }, join(folder, 'modules'), maxBytes);
    await checkout.checkout(head);
    try {
      await submodules.placeInto(checkout.workTree, checkout, head, () => true);
      return readdirSync(join(folder, 'modules')).length;
    } finally {
      await submodules.close();
    }
  };
  expect(await place(200_000)).toBe(3);
  // The second or third pack no longer fits.
  for (const maxBytes of [25_000, 45_000])
    await expect(place(maxBytes)).rejects.toMatchObject({
      failure: { category: 'repository' },
      message: expect.stringMatching(/^the submodule (?:one|two|three): .* more than 0\.0\d+ MB$/),
    });
});

test('what a host sends beyond the limit is not kept, and not sent again', async () => {
  open.add('mona/huge');
  const huge = commit('mona/huge', { 'huge.bin': randomBytes(2_000_000).toString('base64') });
  commit('mona/main', { '.gitmodules': section('huge', '../huge') }, { huge });
  const { app, remote, signal } = choosing();
  const { checkout, head, place } = await clone(choosing({ submodules: false }));
  const folder = join(place, 'modules');
  const submodules = new Submodules({ app, remote, hosts: [], signal }, folder, 1_000_000);
  await checkout.checkout(head);
  const attempt = () => submodules.placeInto(checkout.workTree, checkout, head, () => true);
  await expect(attempt()).rejects.toThrow('more than 1 MB');
  expect(readdirSync(folder)).toEqual([]);
  asked.length = 0;
  await expect(attempt()).rejects.toThrow('more than 1 MB');
  expect(asked).toEqual([]);
});

test('only submodules in the chosen folders are fetched', async () => {
  open.add('mona/lib');
  const lib = commit('mona/lib', { 'lib.txt': 'lib\n' });
  const modules = section('a/lib', '../lib') + section('b/lib', '../private');
  commit('mona/main', { '.gitmodules': modules, 'a/x': 'x', 'b/x': 'x' }, { 'a/lib': lib, 'b/lib': lib });
  const { checkout, head, read } = await clone(choosing({ paths: ['a'] }));
  await checkout.checkout(head);
  expect(read('a/lib/lib.txt')).toBe('lib\n');
});

test('git in JavaScript cannot do it, and the agent is told what it has', async () => {
  const given = choosing();
  const { checkout } = await clone(given);
  const app = { ...given.app, git: isomorphicProcess() };
  await expect(chooseFiles(checkout, { ...given, app })).rejects.toThrow('checkout.submodules needs git');
  expect(toldOfFiles(given.settings)).toMatch(/^Submodules are there to be read/);
  expect(toldOfFiles(noSettings)).toBe('');
});
