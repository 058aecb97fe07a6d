import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveGit } from '../../demo/github/git/git-server.ts';
import { runInSmallProcess } from '../../demo/github/git/small-process.ts';

const sample = fileURLToPath(new URL('../../demo/sample-repository', import.meta.url));

const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
/** A failure carries what git printed, which otherwise also goes to the output of the tests. */
const quiet = { env, encoding: 'utf8', stdio: 'pipe' } as const;
const person = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'safe.directory=*'];

export function gitOut(folder: string, ...args: string[]): string {
  return execFileSync('git', [...person, '-C', folder, ...args], quiet).trim();
}

/** Runs git with this input. */
export function gitWith(folder: string, input: string | Buffer, ...args: string[]): string {
  return execFileSync('git', [...person, '-C', folder, ...args], { ...quiet, input }).trim();
}

/** Runs git without blocking this process, for remotes that this process serves. */
export async function gitAsync(folder: string, ...args: string[]): Promise<string> {
  const { output, problem } = await runInSmallProcess('git', [...person, '-C', folder, ...args], { env });
  if (problem !== undefined) throw new Error(problem);
  return output.toString('utf8').trim();
}

/**
 * Commits the sample project in `work`, and clones it as `bare.git`. In one shell, because starting a process takes up to
 * 20 ms in a test with 400 MB of memory.
 */
const seeding = `git -C work init -q -b main
git -C work add -A
git -C work ${person.join(' ')} commit -q -m first
git ${person.join(' ')} clone -q --bare -c uploadpack.allowAnySHA1InWant=true work bare.git`;

interface Seed {
  path: string;
  mode?: number;
  /** Undefined for a folder. */
  bytes?: Buffer;
}
let seeds: Seed[] | undefined;

/** Reads the files of both repositories into memory, so that this process runs git for them only once. */
function seed(): Seed[] {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-git-'));
  cpSync(sample, join(root, 'work'), { recursive: true });
  execFileSync('/bin/sh', ['-ec', seeding], { cwd: root, env });
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  const read = found.map((path) => {
    const stat = statSync(join(root, path));
    return stat.isDirectory() ? { path } : { path, mode: stat.mode, bytes: readFileSync(join(root, path)) };
  });
  rmSync(root, { recursive: true, force: true });
  return read;
}

/** Serves a bare repository with the sample project over git's smart HTTP, with one valid token. */
export async function serveSampleRepository() {
  const root = mkdtempSync(join(tmpdir(), 'deckhand-git-'));
  const bare = join(root, 'bare.git');
  const work = join(root, 'work');
  seeds ??= seed();
  // Sorted by path, so a folder comes before what is in it.
  for (const { path, mode, bytes } of seeds)
    if (bytes === undefined) mkdirSync(join(root, path));
    else writeFileSync(join(root, path), bytes, { mode });
  const tokens: (string | undefined)[] = [];
  let refusals = 0;
  let refusal = 503;
  const advertised = 'application/x-git-upload-pack-advertisement';
  const server = createServer((req, res) => {
    if (refusals-- > 0) return res.writeHead(refusal, { 'Content-Type': advertised }).end('<p>not now</p>');
    const find = async (_name: string, token: string | undefined) => {
      tokens.push(token);
      return token === 'good-token' ? bare : undefined;
    };
    serveGit(
      {
        find,
        beforeAdvertising: async () => {},
        push: (_name: string, _token: string, receive: () => Promise<Buffer>) => receive(),
      },
      req,
      res,
    ).then((isGit) => {
      if (!isGit) res.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/octocat/sample`,
    bare,
    work,
    root,
    tokens,
    /** Makes the next requests fail with an error page. */
    stumble: (times: number, status = 503) => {
      refusals = times;
      refusal = status;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
