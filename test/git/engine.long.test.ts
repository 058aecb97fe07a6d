import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { diffOf } from '../../src/git/diff.ts';
import { hasCommit } from '../../src/git/merge-base.ts';
import { at, author, forEachEngine } from '../support/each-engine.ts';
import { gitOut, gitWith } from '../support/git.ts';

async function listening(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

forEachEngine((given) => {
  test('lists branches, but only with the right token', async () => {
    expect(await given.engine.listBranches(given.remote())).toEqual(
      new Map([['main', gitOut(given.host.bare, 'rev-parse', 'main')]]),
    );
    await expect(given.engine.listBranches({ url: given.host.url })).rejects.toMatchObject({ fault: 'auth' });
    const wrong = await given.engine.listBranches({ url: given.host.url, token: 'wrong-token' }).catch((e) => e);
    expect(wrong.fault).toBe('missing');
    expect(wrong.message).not.toContain('wrong-token');
  });

  test('connects to the address that was checked, even if the name now resolves to another', async () => {
    const { port } = new URL(given.host.url);
    const url = given.host.url.replace('127.0.0.1', 'rebound.invalid');
    const pinned = { ...given.remote(), url, resolved: `rebound.invalid:${port}:127.0.0.1` };
    expect([...(await given.engine.listBranches(pinned)).keys()]).toEqual(['main']);
  });

  test('merges two branches, with conflict markers where they conflict', async () => {
    const { checkout, base } = await given.open();
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

  test('closes the connection to the remote when it is cancelled', async () => {
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
    await expect(given.engine.listBranches({ url }, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    await left;
    silent.close();
  });

  test('does not follow a redirect to another origin, and does not send the token there', async () => {
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
    const listing = given.engine.listBranches({ url, token: 'good-token' });
    await expect(listing).rejects.toThrow(/HTTP 307, so the repository has probably moved.* Then try again/);
    expect(seen).toEqual([]);
    for (const server of [thief, mover]) {
      server.close();
      server.closeAllConnections();
    }
  });

  test('checks out, takes snapshots, commits and pushes; git shows the same', async () => {
    const { checkout, base } = await given.open();
    const w = checkout.workTree;
    expect(await checkout.snapshot()).toBe(await checkout.treeOf(base));
    writeFileSync(join(w, 'README.md'), 'changed\n');
    rmSync(join(w, 'src/slugify.js'));
    writeFileSync(
      join(w, 'src/slug.js'),
      `${gitOut(given.host.bare, 'show', 'main:src/slugify.js').replace('title)', 'text)')}\n`,
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
    expect(gitOut(given.host.bare, 'rev-parse', 'agent/x-change')).toBe(commit);
    expect(gitOut(given.host.bare, 'log', '-1', '--format=%an <%ae> %aI %s', commit)).toBe(
      `${author.name} <${author.email}> 2026-01-02T03:04:05+00:00 Change`,
    );
    expect(gitOut(given.host.bare, 'ls-tree', '-r', commit)).toMatch(
      /120000 blob \w+\tlink[\s\S]*100755 blob \w+\trun.sh/,
    );
    const diff = await diffOf(checkout, base, commit);
    expect(diff.files.map((f) => [f.path, f.status, f.previousPath])).toEqual([
      ['README.md', 'modified', undefined],
      ['image.bin', 'added', undefined],
      ['link', 'added', undefined],
      ['run.sh', 'added', undefined],
      ['src/slug.js', 'renamed', 'src/slugify.js'],
    ]);
    const counted = gitOut(given.host.bare, 'diff', '--numstat', '-M', base, commit)
      .split('\n')
      .map((l) => l.split('\t'));
    const ours = diff.files.map((f) => (f.binary ? ['-', '-'] : [String(f.additions), String(f.deletions)]));
    expect(ours).toEqual(counted.map(([a, d]) => [a, d]));
  });

  test('finds a commit in the history of a branch although a merge brings an older one closer', async () => {
    const { bare } = given.host;
    let mark = 0;
    /** Returns commits for fast-import that follow another one. */
    const line = (branch: string, from: string, count: number, merge = '') =>
      Array.from({ length: count }, (_, i) => {
        const begins = i === 0 ? `from ${from}\n${merge}` : '';
        return `commit refs/heads/${branch}\nmark :${++mark}\ncommitter a <a@b> ${mark} +0000\ndata 0\n${begins}\n`;
      }).join('');
    // The commit that is sought is 110 commits behind `main`, the point where `feature` began only one.
    const parts = [
      line('main', gitOut(bare, 'rev-parse', 'main'), 30),
      line('main', ':30', 110),
      line('feature', ':10', 1),
      line('main', ':140', 1, 'merge :141\n'),
      line('feature', ':141', 1),
    ];
    gitWith(bare, parts.join(''), 'fast-import', '--quiet');
    const [began, elsewhere] = [gitOut(bare, 'rev-parse', 'main~111'), gitOut(bare, 'rev-parse', 'feature')];
    const { checkout, base } = await given.open();
    expect(await hasCommit(checkout, base, began)).toBe(true);
    expect(await hasCommit(checkout, base, elsewhere)).toBe(false);
  });

  test('does not push by force, and reports that the push was rejected', async () => {
    const { checkout, base } = await given.open();
    const tree = await checkout.treeOf(base);
    const mine = await checkout.commit({ tree, parents: [base], message: 'mine\n', author, at });
    gitOut(given.host.work, 'checkout', '-q', '-b', 'agent/x');
    gitOut(given.host.work, 'commit', '-q', '--allow-empty', '-m', 'theirs');
    gitOut(given.host.work, 'push', '-q', given.host.bare, 'agent/x');
    await expect(checkout.push(mine, 'agent/x')).rejects.toMatchObject({ fault: 'rejected' });
    expect(gitOut(given.host.bare, 'log', '-1', '--format=%s', 'agent/x')).toBe('theirs');
  });

  test('pushes objects to a ref outside of the branches, again and again, and removes it once and twice', async () => {
    const { checkout, base } = await given.open();
    const tree = await checkout.treeOf(base);
    const commitOf = (message: string) => checkout.commit({ tree, parents: [base], message, author, at });
    const refs = () => gitOut(given.host.bare, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/deckhand');
    await checkout.removeAside('run-1');
    for (const commit of [await commitOf('one\n'), await commitOf('two\n')]) {
      await checkout.pushAside(commit, 'run-1');
      await checkout.pushAside(commit, 'run-1');
      expect(refs()).toBe(`refs/deckhand/run-1 ${commit}`);
    }
    expect([...(await given.engine.listBranches(given.remote())).keys()]).toEqual(['main']);
    await checkout.removeAside('run-1');
    await checkout.removeAside('run-1');
    expect(refs()).toBe('');
  });

  test('a push whose response was lost succeeds if the remote has the commit', async () => {
    const { checkout, base } = await given.open();
    const commit = await checkout.commit({
      tree: await checkout.treeOf(base),
      parents: [base],
      message: 'm\n',
      author,
      at,
    });
    // The hook fails after the branch was moved: git reports an error although the push has succeeded.
    writeFileSync(join(given.host.bare, 'hooks/post-receive'), '#!/bin/sh\nkill -9 $PPID\n', { mode: 0o755 });
    await checkout.push(commit, 'agent/lost');
    expect(gitOut(given.host.bare, 'rev-parse', 'agent/lost')).toBe(commit);
  });

  test('finds a common ancestor that a shallow history does not contain', async () => {
    const fork = gitOut(given.host.bare, 'rev-parse', 'main');
    for (let i = 0; i < 5; i++) gitOut(given.host.work, 'commit', '-q', '--allow-empty', '-m', `m${i}`);
    gitOut(given.host.work, 'push', '-q', given.host.bare, 'main');
    gitOut(given.host.work, 'checkout', '-q', '-b', 'agent/old', fork);
    gitOut(given.host.work, 'commit', '-q', '--allow-empty', '-m', 'work');
    gitOut(given.host.work, 'push', '-q', given.host.bare, 'agent/old');
    const { checkout, base } = await given.open();
    const head = (await checkout.fetch('agent/old')) ?? '';
    expect(await checkout.mergeBase(base, head)).toBe(fork);
    expect(await checkout.isAncestor(fork, head)).toBe(true);
    expect(await checkout.isAncestor(head, base)).toBe(false);
    expect(await checkout.isAncestor(head, head)).toBe(true);
    expect(await checkout.isAncestor('1'.repeat(40), '1'.repeat(40))).toBe(false);
    expect(await checkout.changes(head, head)).toEqual([]);
    expect(await checkout.fetch('no-such-branch')).toBeUndefined();
    expect(await checkout.fetchCommit(fork)).toBe(true);
    expect(await checkout.fetchCommit('1'.repeat(40))).toBe(false);
  });

  test('finds the best common ancestor although a merge has brought another close', async () => {
    const { bare } = given.host;
    const first = gitOut(bare, 'rev-parse', 'main');
    const commitOn = (...parents: string[]) =>
      gitOut(bare, 'commit-tree', `${first}^{tree}`, ...parents.flatMap((each) => ['-p', each]), '-m', 'm');
    const later = commitOn(first);
    let last = later;
    for (let i = 0; i < 120; i++) last = commitOn(last);
    gitOut(bare, 'update-ref', 'refs/heads/main', later);
    gitOut(bare, 'update-ref', 'refs/heads/long', commitOn(first, last));
    const { checkout, base } = await given.open();
    const head = (await checkout.fetch('long')) ?? '';
    expect(base).toBe(later);
    expect(await checkout.mergeBase(base, head)).toBe(later);
    expect(await checkout.mergeBases(base, [head])).toEqual([later]);
  });

  test('finds the best of two common ancestors although git names an older one first, by its date', async () => {
    const { bare } = given.host;
    const first = gitOut(bare, 'rev-parse', 'main');
    const future = 't <t@example.com> 4102444800 +0000';
    const raw = `tree ${gitOut(bare, 'rev-parse', `${first}^{tree}`)}\nparent ${first}\nauthor ${future}\ncommitter ${future}\n\nold\n`;
    const old = gitWith(bare, raw, 'hash-object', '-t', 'commit', '-w', '--stdin');
    const commitOn = (message: string, ...parents: string[]) =>
      gitOut(bare, 'commit-tree', `${first}^{tree}`, ...parents.flatMap((each) => ['-p', each]), '-m', message);
    let best = old;
    for (let i = 0; i < 120; i++) best = commitOn('m', best);
    gitOut(bare, 'update-ref', 'refs/heads/main', commitOn('main', best, old));
    gitOut(bare, 'update-ref', 'refs/heads/change', commitOn('change', best, old));
    const { checkout, base } = await given.open();
    const head = (await checkout.fetch('change')) ?? '';
    expect(await checkout.mergeBase(base, head)).toBe(best);
    expect(await checkout.mergeBases(base, [head])).toEqual([best]);
  });

  test('finds all common ancestors of branches that were merged into each other crosswise', async () => {
    const { bare } = given.host;
    const first = gitOut(bare, 'rev-parse', 'main');
    const commitOn = (message: string, ...parents: string[]) =>
      gitOut(bare, 'commit-tree', `${first}^{tree}`, ...parents.flatMap((each) => ['-p', each]), '-m', message);
    const [one, two] = [commitOn('one', first), commitOn('two', first)];
    gitOut(bare, 'update-ref', 'refs/heads/main', commitOn('to main', one, two));
    gitOut(bare, 'update-ref', 'refs/heads/crossed', commitOn('to the branch', two, one));
    const { checkout, base } = await given.open();
    const head = (await checkout.fetch('crossed')) ?? '';
    expect(new Set(await checkout.mergeBases(base, [head]))).toEqual(new Set([one, two]));
    expect(await checkout.mergeBases(base, [one, two])).toHaveLength(2);
    expect(await checkout.mergeBases(base, [one, base])).toEqual([base]);
  });

  test('fetches the head of a pull request and its history, where the engine can', async () => {
    const { checkout, base } = await given.open();
    const { bare } = given.host;
    let head = base;
    for (const message of ['one', 'two', 'three'])
      head = gitOut(bare, 'commit-tree', `${base}^{tree}`, '-p', head, '-m', message);
    gitOut(bare, 'update-ref', 'refs/pull/7/head', head);
    if (checkout.fetchPull === undefined) return expect(given.engine.name).toBe('isomorphic');
    expect(await checkout.fetchPull(8, 100_000)).toBeUndefined();
    expect(await checkout.fetchPull(7, 100_000)).toBe(head);
    expect(await checkout.mergeBase(base, head)).toBe(base);
  });

  test('refuses the head of a pull request that adds too much', async () => {
    const { checkout, base } = await given.open();
    const { bare } = given.host;
    const blob = gitWith(bare, randomBytes(2_000_000), 'hash-object', '-w', '--stdin');
    const tree = gitWith(bare, `100644 blob ${blob}\tlarge.bin\n`, 'mktree');
    gitOut(bare, 'update-ref', 'refs/pull/9/head', gitOut(bare, 'commit-tree', tree, '-p', base, '-m', 'large'));
    if (checkout.fetchPull === undefined) return expect(given.engine.name).toBe('isomorphic');
    await expect(checkout.fetchPull(9, 1_000_000)).rejects.toMatchObject({ fault: 'broken' });
    expect(await checkout.fetchPull(9, 4_000_000)).toBeDefined();
  });

  test('replaces files of a tree: changed, added, removed, and a folder in place of a file', async () => {
    const { checkout, base } = await given.open();
    const files = await checkout.files(base);
    const readme = files.get('README.md') ?? { mode: '', oid: '' };
    const none = { mode: '000000', oid: '0'.repeat(40) };
    const tree = await checkout.replaceFiles(await checkout.treeOf(base), [
      { path: 'package.json/inner.md', ...readme },
      { path: 'package.json', ...none },
      { path: 'src/slugify.js', ...none },
      { path: 'never/there.md', ...none },
      { path: 'a b/ü"\n.sh', oid: readme.oid, mode: '100755' },
      { path: 'link', oid: readme.oid, mode: '120000' },
    ]);
    const now = await checkout.files(tree);
    const wanted = new Map([...files].filter(([path]) => !['package.json', 'src/slugify.js'].includes(path)));
    for (const [path, mode] of [
      ['package.json/inner.md', '100644'],
      ['a b/ü"\n.sh', '100755'],
      ['link', '120000'],
    ] as const)
      wanted.set(path, { mode, oid: readme.oid });
    expect(new Map([...now].sort())).toEqual(new Map([...wanted].sort()));
    // Neither the work tree nor what a snapshot begins from has changed.
    expect(await checkout.snapshot()).toBe(await checkout.treeOf(base));
    expect(await checkout.replaceFiles(tree, [])).toBe(tree);
  });
});
