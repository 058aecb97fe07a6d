import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diffOf } from '../../src/git/diff.ts';
import type { FileDiff } from '../../src/git/diff-files.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { explain } from '../../src/git/native/explain.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { fetchWithin, NativeRepository } from '../../src/git/native/repository.ts';
import { git } from '../../src/git/native/run-git.ts';
import { allFiles } from '../../src/git/work-tree/tree-files.ts';
import { at, author } from '../support/each-engine.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';
import { longestBlock } from '../support/machine/processor-time.ts';

const host = await serveSampleRepository();
// Uses memory, because creating a hundred thousand folders on a disk takes a quarter of a minute.
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'deckhand-limits-'));
afterAll(() => {
  host.close();
  rmSync(root, { recursive: true, force: true });
});

async function open(name: string): Promise<{ checkout: Checkout; base: string }> {
  const folders = { gitDir: join(root, name, 'g'), workTree: join(root, name, 'w') };
  const checkout = await nativeGit().open({ url: host.url, token: 'good-token' }, folders);
  const base = (await checkout.fetch('main')) ?? '';
  await checkout.checkout(base);
  return { checkout, base };
}

test('a remote that sends more than the limit gets another error than one that hangs up', async () => {
  const large = await serveSampleRepository();
  writeFileSync(join(large.work, 'large.bin'), randomBytes(300_000));
  gitOut(large.work, 'add', '-A');
  gitOut(large.work, 'commit', '-q', '-m', 'large');
  gitOut(large.work, 'push', '-q', large.bare, 'main');
  const folders = { gitDir: join(root, 'full', 'g'), workTree: join(root, 'full', 'w') };
  const remote = { url: large.url, token: 'good-token' };
  const checkout = await nativeGit().open(remote, folders);
  const repository = new NativeRepository(remote, folders, undefined);
  const fetched = (fileBytes: number) =>
    fetchWithin(repository, ['--', large.url, 'main'], { memoryBytes: 2e9, fileBytes });
  await expect(fetched(100_000)).rejects.toMatchObject({
    fault: 'broken',
    message: expect.stringContaining('half of the free disk space'),
  });
  await fetched(1_000_000);
  await checkout.close();
  large.close();
  const cutOff =
    'fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n';
  expect(explain(cutOff, 128, undefined).fault).toBe('unreachable');
  const unexplained = explain('fatal: fetch-pack: invalid index-pack output\n', 128, undefined);
  expect(unexplained.fault).toBe('unreachable');
  expect(
    explain('fatal: pack has bad object\nfatal: fetch-pack: invalid index-pack output\n', 128, undefined).fault,
  ).toBe('broken');
});

test('the diff of a rewritten file does not block the service', async () => {
  const rewrite = (folder: string, end: string) => {
    const lines = Array.from({ length: 5000 }, (_, i) => `${(i * 7919) % 99_991}${end}`);
    writeFileSync(join(folder, 'data.csv'), lines.join('\n'));
  };
  rewrite(host.work, ',x');
  gitOut(host.work, 'add', '-A');
  gitOut(host.work, 'commit', '-q', '-m', 'data');
  gitOut(host.work, 'push', '-q', host.bare, 'main');
  const { checkout, base } = await open('diff');
  rewrite(checkout.workTree, ';y');
  const tree = await checkout.snapshot();
  const commit = await checkout.commit({ tree, parents: [base], message: 'm\n', author, at });
  let statuses: string[] = [];
  const block = await longestBlock(async () => {
    statuses = (await diffOf(checkout, base, commit)).files.map((f) => f.status);
  });
  await checkout.close();
  expect(statuses).toEqual(['modified']);
  // On the main thread each file took two seconds.
  expect(block).toBeLessThan(1500);
});

test('the diff of many files with one long line does not block the service, and is truncated', async () => {
  const text = (i: number) => `${String(i).padStart(3, 'x')}`.repeat(600_000);
  const none = { mode: '000000', oid: '0' };
  const changes = Array.from({ length: 100 }, (_, i) => {
    const [old, now] = i < 50 ? [{ mode: '100644', oid: String(i) }, none] : [none, { mode: '100644', oid: String(i) }];
    return { path: `${i}.txt`, oldMode: old.mode, oldOid: old.oid, newMode: now.mode, newOid: now.oid };
  });
  const readBlobs = async (oids: string[]) => new Map(oids.map((oid) => [oid, Buffer.from(text(Number(oid)))]));
  const checkout = { changes: async () => changes, readBlobs } as unknown as Checkout;
  let files: FileDiff[] = [];
  const block = await longestBlock(async () => {
    files = (await diffOf(checkout, 'a', 'b')).files;
  });
  expect(files).toHaveLength(100);
  expect(files.filter((f) => f.truncated).length).toBeGreaterThan(80);
  expect(JSON.stringify(files).length).toBeLessThan(5_000_000);
  expect(block).toBeLessThan(1500);
});

test('a work tree with too many files is refused while they are being listed', async () => {
  const { checkout } = await open('names');
  mkdirSync(join(checkout.workTree, 'many'));
  for (let i = 0; i <= 100_100; i++) mkdirSync(join(checkout.workTree, 'many', String(i)));
  await expect(checkout.snapshot()).rejects.toThrow(/over 100000 files and folders that the repository does not have/);
  await checkout.close();
});

test('when memory runs out, the kernel ends git before the service', async () => {
  // A new child has the service's score for a moment.
  const look = 'i=0; until grep -qx 500 /proc/$PPID/oom_score_adj || [ $i = 200 ]; do i=$((i+1)); done';
  const alias = `alias.score=!${look}; cat /proc/$PPID/oom_score_adj #`;
  expect(String(await git(['-c', alias, 'score'], {})).trim()).toBe('500');
  const folders = { gitDir: join(root, 'score', 'g'), workTree: join(root, 'score', 'w') };
  const checkout = await isomorphicProcess().open({ url: host.url, token: 'good-token' }, folders);
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const isGit = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('git-child');
  const scores = children.filter(isGit).map((pid) => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim());
  await checkout.close();
  expect(scores).toEqual(['500']);
});

test('a repository with too many or too long paths is refused while they are being counted', async () => {
  const file = { mode: '100644', oid: 'file' };
  const folder = (oid: string) => ({ mode: '40000', oid });
  const many = (name: string, entry: { mode: string; oid: string }) =>
    new Map(Array.from({ length: 1000 }, (_, i) => [`${i}${name}`, entry]));
  // Four objects expand to a billion files.
  const wide = async (tree: string) => many('', Number(tree) > 0 ? folder(String(Number(tree) - 1)) : file);
  await expect(allFiles(wide, '2')).rejects.toThrow('more than 500000 files');
  // A few files whose paths take gigabytes.
  const name = 'n'.repeat(250);
  const deep = async (tree: string) =>
    Number(tree) > 0 ? new Map([[name, folder(String(Number(tree) - 1))]]) : many(name, file);
  const manyDeep = async (tree: string) => (tree === 'root' ? many(name, folder('15')) : deep(tree));
  await expect(allFiles(manyDeep, 'root')).rejects.toThrow(
    'the paths of the repository have more than 64000000 characters',
  );
});
