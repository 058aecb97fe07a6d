import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
};
export const git = async (cwd: string, ...args: string[]) =>
  (await promisify(execFile)('git', args, { cwd, env, maxBuffer: 1 << 26 })).stdout.trim();

const text = (path: string, content: string) =>
  `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`;

/** Makes a bare repository whose branch main has one commit with these entries, as `git fast-import` reads them. */
async function make(folder: string, name: string, entries: Iterable<string>): Promise<string> {
  const bare = join(folder, `${name}.git`);
  await git(folder, 'init', '-q', '--bare', '-b', 'main', bare);
  await git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await git(bare, 'config', 'uploadpack.allowFilter', 'true');
  const importing = spawn('git', ['fast-import', '--quiet'], { cwd: bare, env, stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve, reject) => {
    importing.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`fast-import ended with ${code}`))));
  });
  const all = function* () {
    yield 'commit refs/heads/main\ncommitter a <a@example.com> 1767225600 +0000\ndata 1\nc\n';
    yield* entries;
  };
  await pipeline(Readable.from(all()), importing.stdin);
  await ended;
  return git(bare, 'rev-parse', 'main');
}

/** A monorepo: files of 600 characters, which compress to half, in folders of 500. A task needs `apps/0` and `apps/1`. */
export function makeMonorepo(folder: string, files: number): Promise<string> {
  const entries = function* () {
    yield text('package.json', '{}\n');
    for (let i = 0; i < files; i++)
      yield text(`apps/${Math.floor(i / 500)}/src/${i % 500}.js`, randomBytes(300).toString('hex'));
  };
  return make(folder, 'monorepo', entries());
}

/** A repository with this many files in Git LFS, of 10 kB each. */
export async function makeLfs(folder: string, files: number): Promise<void> {
  const pointers: string[] = [];
  for (let i = 0; i < files; i++) {
    const content = randomBytes(10_000);
    const oid = createHash('sha256').update(content).digest('hex');
    const file = join(folder, 'lfs.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    pointers.push(
      text(
        `${i % 50}/${i}.bin`,
        `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`,
      ),
    );
  }
  await make(folder, 'lfs', [text('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n'), ...pointers]);
}

/** A repository with ten submodules, each of which has two inside it. Each has 200 files of 2 kB. */
export async function makeNested(folder: string): Promise<void> {
  const files = () => Array.from({ length: 200 }, (_, i) => text(`src/${i}.js`, randomBytes(1000).toString('hex')));
  const section = (path: string, name: string) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ../${name}\n`;
  const links = async (names: [path: string, name: string, commit: string][]) => [
    text('.gitmodules', names.map(([path, name]) => section(path, name)).join('')),
    ...names.map(([path, , commit]) => `M 160000 ${commit} ${path}\n`),
  ];
  const outer: [string, string, string][] = [];
  for (let i = 0; i < 10; i++) {
    const inner: [string, string, string][] = [];
    for (const part of ['a', 'b']) {
      const name = `inner-${i}-${part}`;
      inner.push([`in/${part}`, name, await make(folder, name, files())]);
    }
    const name = `outer-${i}`;
    outer.push([`libs/${i}`, name, await make(folder, name, [...files(), ...(await links(inner))])]);
  }
  await make(folder, 'nested', [...files(), ...(await links(outer))]);
}
