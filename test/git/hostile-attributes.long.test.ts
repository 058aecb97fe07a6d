import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LfsAttributes } from '../../src/git/native/attributes.ts';
import { git } from '../../src/git/native/run-git.ts';
import { UnfitWorkTree } from '../../src/git/work-tree/read-inside.ts';

let home: string;
let gitDir: string;
let tree: string;
const deep = `${'a/'.repeat(400)}c.bin`;
const out = (args: string[], input = '') => {
  const env = { ...process.env, GIT_INDEX_FILE: join(home, 'index') };
  return execFileSync('git', [`--git-dir=${gitDir}`, ...args], { input, env })
    .toString()
    .trim();
};

// Git tries every way to match such a pattern.
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'hostile-attributes-'));
  gitDir = join(home, 'git');
  execFileSync('git', ['init', '--quiet', '--bare', gitDir]);
  const rules = out(['hash-object', '-w', '--stdin'], `*.bin filter=lfs\n/**/${'a/**/'.repeat(40)}b text\n`);
  const file = out(['hash-object', '-w', '--stdin'], 'x');
  out(['update-index', '--add', '--cacheinfo', `100644,${rules},.gitattributes`]);
  out(['update-index', '--add', '--cacheinfo', `100644,${file},${deep}`]);
  tree = out(['write-tree']);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('git on this machine ends at its limit of time, whatever the patterns of a tree are', async () => {
  const work = join(home, 'work');
  mkdirSync(work);
  const options = { env: { GIT_INDEX_FILE: join(home, 'index') }, limitSeconds: 1 };
  await expect(git([`--git-dir=${gitDir}`, `--work-tree=${work}`, 'checkout-index', '--all'], options)).rejects.toThrow(
    'git: it took more than 1 s on this machine',
  );
});

test('patterns that take too long for Git LFS are refused as those of .gitignore are', async () => {
  const attributes = new LfsAttributes(gitDir, join(home, 'attributes.git'), new AbortController().signal, 1);
  await expect(attributes.trackedOf(tree, [deep])).rejects.toThrow(UnfitWorkTree);
});
