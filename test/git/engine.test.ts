import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { diffOf } from '../../src/git/diff.ts';
import type { Checkout, GitEngine } from '../../src/git/engine.ts';
import { isomorphicProcess } from '../../src/git/isomorphic-process.ts';
import { nativeGit } from '../../src/git/native.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

const author = { name: 'bot[bot]', email: '1+bot[bot]@users.noreply.github.com' };
const at = new Date('2026-01-02T03:04:05Z');

async function listening(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe.each<[string, () => GitEngine]>([
  ['native', nativeGit],
  ['isomorphic', isomorphicProcess],
])('%s', (_name, make) => {
  const engine = make();
  let host: Awaited<ReturnType<typeof serveSampleRepository>>;
  let count = 0;
  beforeEach(async () => {
    host = await serveSampleRepository();
  });
  afterEach(() => host.close());
  const remote = () => ({ url: host.url, token: 'good-token' });

  async function open(): Promise<{ checkout: Checkout; base: string }> {
    const folder = join(host.root, `c${count++}`);
    const checkout = await engine.open(remote(), { gitDir: join(folder, 'git'), workTree: join(folder, 'work') });
    const base = (await checkout.fetch('main')) ?? '';
    await checkout.checkout(base);
    return { checkout, base };
  }

  test('lists branches, with the token and only with it', async () => {
    expect(await engine.listBranches(remote())).toEqual(new Map([['main', gitOut(host.bare, 'rev-parse', 'main')]]));
    await expect(engine.listBranches({ url: host.url })).rejects.toMatchObject({ fault: 'auth' });
    const wrong = await engine.listBranches({ url: host.url, token: 'wrong-token' }).catch((e) => e);
    expect(wrong.fault).toBe('missing');
    expect(wrong.message).not.toContain('wrong-token');
  });

  test('dials the address that was checked, whatever the name resolves to by then', async () => {
    const { port } = new URL(host.url);
    const url = host.url.replace('127.0.0.1', 'rebound.invalid');
    const pinned = { ...remote(), url, resolved: `rebound.invalid:${port}:127.0.0.1` };
    expect([...(await engine.listBranches(pinned)).keys()]).toEqual(['main']);
  });

  test('joins two branches: clean where they can be, markers where they cannot', async () => {
    const { checkout, base } = await open();
    const commitOf = async (files: Record<string, string | null>, message: string) => {
      await checkout.checkout(base);
      for (const [path, text] of Object.entries(files))
        if (text === null) rmSync(join(checkout.workTree, path));
        else writeFileSync(join(checkout.workTree, path), text);
      return checkout.commit({ tree: await checkout.snapshot(), parents: [base], message, author, at });
    };
    const ours = await commitOf({ 'README.md': 'ours\n', 'a.txt': 'a\n' }, 'ours');
    const theirs = await commitOf({ 'b.txt': 'b\n' }, 'theirs');
    const clean = await checkout.merge(ours, theirs);
    expect(clean.conflicts).toEqual([]);
    const paths = (await checkout.changes(await checkout.treeOf(base), clean.tree)).map((c) => c.path);
    expect(paths).toEqual(['README.md', 'a.txt', 'b.txt']);
    const rival = await commitOf({ 'README.md': 'theirs\n' }, 'rival');
    const torn = await checkout.merge(ours, rival);
    expect(torn.conflicts).toEqual(['README.md']);
    const [{ newOid = '' } = {}] = await checkout.changes(await checkout.treeOf(base), torn.tree);
    const text = (await checkout.readBlobs([newOid])).get(newOid)?.toString('utf8');
    expect(text).toMatch(/^<<<<<<< [^\n]*\nours\n=======\ntheirs\n>>>>>>> [^\n]*\n/);
  });

  test('cancelled, it lets go of the remote at once', async () => {
    const silent = createTcpServer();
    const stop = new AbortController();
    const left = new Promise<void>((resolve) => {
      silent.once('connection', (socket) => {
        socket.resume().once('close', () => resolve());
        socket.once('error', () => {});
        stop.abort();
      });
    });
    const url = `http://127.0.0.1:${await listening(silent)}/a/b`;
    await expect(engine.listBranches({ url }, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    await left;
    silent.close();
  });

  test('follows no redirect to another origin, and shows it no token', async () => {
    const seen: string[] = [];
    const thief = createServer((req, res) => {
      seen.push(`${req.url} ${req.headers.authorization}`);
      res.writeHead(404).end();
    });
    const port = await listening(thief);
    const mover = createServer((req, res) =>
      res.writeHead(307, { Location: `http://127.0.0.1:${port}${req.url}` }).end(),
    );
    const url = `http://127.0.0.1:${await listening(mover)}/a/b`;
    await expect(engine.listBranches({ url, token: 'good-token' })).rejects.toBeInstanceOf(Error);
    expect(seen).toEqual([]);
    for (const server of [thief, mover]) {
      server.close();
      server.closeAllConnections();
    }
  });

  test('checks out, snapshots, commits and pushes what git itself then shows', async () => {
    const { checkout, base } = await open();
    const w = checkout.workTree;
    expect(await checkout.snapshot()).toBe(await checkout.treeOf(base));
    writeFileSync(join(w, 'README.md'), 'changed\n');
    rmSync(join(w, 'src/slugify.js'));
    writeFileSync(
      join(w, 'src/slug.js'),
      `${gitOut(host.bare, 'show', 'main:src/slugify.js').replace('title)', 'text)')}\n`,
    );
    writeFileSync(join(w, 'image.bin'), Buffer.from([0, 1, 2, 0]));
    writeFileSync(join(w, 'run.sh'), '#!/bin/sh\n');
    chmodSync(join(w, 'run.sh'), 0o755);
    symlinkSync('/etc/passwd', join(w, 'link'));
    const tree = await checkout.snapshot();
    const commit = await checkout.commit({ tree, parents: [base], message: 'Change\n\nbody\n', author, at });
    expect(await checkout.commit({ tree, parents: [base], message: 'Change\n\nbody\n', author, at })).toBe(commit);
    await checkout.push(commit, 'agent/x-change');
    await checkout.push(commit, 'agent/x-change');
    expect(gitOut(host.bare, 'rev-parse', 'agent/x-change')).toBe(commit);
    expect(gitOut(host.bare, 'log', '-1', '--format=%an <%ae> %aI %s', commit)).toBe(
      `${author.name} <${author.email}> 2026-01-02T03:04:05+00:00 Change`,
    );
    expect(gitOut(host.bare, 'ls-tree', '-r', commit)).toMatch(/120000 blob \w+\tlink[\s\S]*100755 blob \w+\trun.sh/);
    const diff = await diffOf(checkout, base, commit);
    expect(diff.files.map((f) => [f.path, f.status, f.previousPath])).toEqual([
      ['README.md', 'modified', undefined],
      ['image.bin', 'added', undefined],
      ['link', 'added', undefined],
      ['run.sh', 'added', undefined],
      ['src/slug.js', 'renamed', 'src/slugify.js'],
    ]);
    const counted = gitOut(host.bare, 'diff', '--numstat', '-M', base, commit)
      .split('\n')
      .map((l) => l.split('\t'));
    const ours = diff.files.map((f) => (f.binary ? ['-', '-'] : [String(f.additions), String(f.deletions)]));
    expect(ours).toEqual(counted.map(([a, d]) => [a, d]));
  });

  test('reads one file of a commit, and nothing that is none', async () => {
    const { checkout } = await open();
    const head = (await checkout.fetch('main')) ?? '';
    expect((await checkout.readFile(head, 'src/slugify.js'))?.toString()).toContain('slugify');
    for (const path of ['src', 'nope', '../etc/passwd', '', '-x', ':(glob)*'])
      expect(await checkout.readFile(head, path)).toBeUndefined();
  });

  test('never moves a branch by force, and says that it was refused', async () => {
    const { checkout, base } = await open();
    const tree = await checkout.treeOf(base);
    const mine = await checkout.commit({ tree, parents: [base], message: 'mine\n', author, at });
    gitOut(host.work, 'checkout', '-q', '-b', 'agent/x');
    gitOut(host.work, 'commit', '-q', '--allow-empty', '-m', 'theirs');
    gitOut(host.work, 'push', '-q', host.bare, 'agent/x');
    await expect(checkout.push(mine, 'agent/x')).rejects.toMatchObject({ fault: 'rejected' });
    expect(gitOut(host.bare, 'log', '-1', '--format=%s', 'agent/x')).toBe('theirs');
  });

  test('a push whose answer got lost is told by what the remote has', async () => {
    const { checkout, base } = await open();
    const commit = await checkout.commit({
      tree: await checkout.treeOf(base),
      parents: [base],
      message: 'm\n',
      author,
      at,
    });
    // The hook's failure comes after the ref was moved: the pusher hears of an error although the push is there.
    writeFileSync(join(host.bare, 'hooks/post-receive'), '#!/bin/sh\nkill -9 $PPID\n', { mode: 0o755 });
    await checkout.push(commit, 'agent/lost');
    expect(gitOut(host.bare, 'rev-parse', 'agent/lost')).toBe(commit);
  });

  test('hooks and settings of the workspace are never run', async () => {
    const { checkout } = await open();
    mkdirSync(join(checkout.workTree, '.git/hooks'), { recursive: true });
    const proof = join(host.root, 'proof');
    for (const hook of ['pre-commit', 'post-checkout', 'reference-transaction'])
      writeFileSync(join(checkout.workTree, '.git/hooks', hook), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    writeFileSync(join(checkout.workTree, '.git/config'), `[core]\n\tfsmonitor = touch ${proof}\n`);
    writeFileSync(join(checkout.workTree, '.gitattributes'), '* filter=evil\n');
    await checkout.snapshot();
    expect(existsSync(proof)).toBe(false);
  });

  test('a nested repository with a filter of its own is files like any others, and its filter never runs', async () => {
    const { checkout, base } = await open();
    const [sub, proof] = [join(checkout.workTree, 'sub'), join(host.root, 'proof')];
    mkdirSync(sub);
    gitOut(sub, 'init', '-q');
    writeFileSync(join(sub, 'f'), 'hi\n');
    gitOut(sub, 'add', 'f');
    gitOut(sub, 'commit', '-q', '-m', 'f');
    gitOut(sub, 'config', 'filter.x.clean', `sh -c 'touch ${proof}; cat'`);
    writeFileSync(join(sub, '.gitattributes'), '* filter=x\n');
    await checkout.snapshot();
    writeFileSync(join(sub, 'f'), 'ho\n');
    const tree = await checkout.snapshot();
    writeFileSync(join(checkout.workTree, 'other.txt'), 'x\n');
    await checkout.snapshot();
    expect(existsSync(proof)).toBe(false);
    const changes = await checkout.changes(await checkout.treeOf(base), tree);
    expect(changes.map((c) => `${c.newMode} ${c.path}`)).toEqual(['100644 sub/.gitattributes', '100644 sub/f']);
  });

  test('ignored files stay out, tracked ones stay in, contents are taken as they are', async () => {
    const { checkout, base } = await open();
    const w = checkout.workTree;
    writeFileSync(join(w, '.gitignore'), 'build/\n*.log\n!keep.log\nREADME.md\n');
    writeFileSync(join(w, '.gitattributes'), '* text=auto eol=crlf working-tree-encoding=UTF-16\n');
    mkdirSync(join(w, 'build/deep'), { recursive: true });
    for (const name of ['build/deep/x', 'a.log', 'keep.log', 'new\nline', ' space ', ':(bad)x', ':!y', '-z'])
      writeFileSync(join(w, name), 'a\r\nb\n');
    writeFileSync(join(w, 'README.md'), 'tracked\n');
    const changes = await checkout.changes(await checkout.treeOf(base), await checkout.snapshot());
    expect(changes.map((c) => c.path).sort()).toEqual([
      ' space ',
      '-z',
      '.gitattributes',
      '.gitignore',
      ':!y',
      ':(bad)x',
      'README.md',
      'keep.log',
      'new\nline',
    ]);
    const oids = changes.filter((c) => c.path === 'keep.log').map((c) => c.newOid);
    expect([...(await checkout.readBlobs(oids)).values()].map(String)).toEqual(['a\r\nb\n']);
  });

  test('a change that no pull request should be is refused before it is read', async () => {
    // The same code for both; isomorphic-git takes 3 ms a file to evaluate .gitignore.
    if (engine.name === 'isomorphic') return;
    const { checkout } = await open();
    for (let i = 0; i < 5001; i++) writeFileSync(join(checkout.workTree, `f${i}`), `${i}`);
    await expect(checkout.snapshot()).rejects.toThrow(/too large: over 5000 files/);
  });

  test('pipes, devices of patience and names of all bytes hang nothing and lose nothing', async () => {
    if (engine.name === 'native') {
      // Names that are no UTF-8: added by git itself, because Node cannot spell them.
      gitOut(
        host.work,
        'update-index',
        '--add',
        '--cacheinfo',
        '100644',
        gitOut(host.work, 'rev-parse', 'HEAD:README.md'),
        'plain',
      );
      execFileSync(
        'sh',
        [
          '-c',
          'printf "caf\\351.txt" | xargs -0 -I{} cp README.md {} && git add -A && git -c user.name=T -c user.email=t@e.x commit -qm odd',
        ],
        { cwd: host.work },
      );
      gitOut(host.work, 'push', '-q', host.bare, 'main');
    }
    const { checkout, base } = await open();
    const w = checkout.workTree;
    writeFileSync(join(w, 'a'), 'x');
    execFileSync('mkfifo', [join(w, 'pipe')]);
    const changes = await checkout.changes(await checkout.treeOf(base), await checkout.snapshot());
    expect(changes.map((c) => `${c.newMode} ${c.path}`)).toEqual(['100644 a']);
    execFileSync('mkfifo', [join(w, 'src/.gitignore')]);
    await expect(checkout.snapshot()).rejects.toThrow('src/.gitignore is no file');
  });

  test('finds the common ancestor behind a shallow history', async () => {
    const fork = gitOut(host.bare, 'rev-parse', 'main');
    for (let i = 0; i < 5; i++) gitOut(host.work, 'commit', '-q', '--allow-empty', '-m', `m${i}`);
    gitOut(host.work, 'push', '-q', host.bare, 'main');
    gitOut(host.work, 'checkout', '-q', '-b', 'agent/old', fork);
    gitOut(host.work, 'commit', '-q', '--allow-empty', '-m', 'work');
    gitOut(host.work, 'push', '-q', host.bare, 'agent/old');
    const { checkout, base } = await open();
    const head = (await checkout.fetch('agent/old')) ?? '';
    expect(await checkout.mergeBase(base, head)).toBe(fork);
    expect(await checkout.isAncestor(fork, head)).toBe(true);
    expect(await checkout.isAncestor(head, base)).toBe(false);
    expect(await checkout.fetch('no-such-branch')).toBeUndefined();
    expect(await checkout.fetchCommit(fork)).toBe(true);
    expect(await checkout.fetchCommit('1'.repeat(40))).toBe(false);
  });
});
