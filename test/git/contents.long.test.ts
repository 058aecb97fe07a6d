import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { GitFailed } from '../../src/git/engine.ts';
import { at, author, forEachEngine } from '../support/each-engine.ts';
import { gitOut, gitWith } from '../support/git.ts';

forEachEngine((given) => {
  test('reads a file of a commit; returns undefined for anything else', async () => {
    const { checkout } = await given.open();
    const head = (await checkout.fetch('main')) ?? '';
    expect((await checkout.readFile(head, 'src/slugify.js'))?.toString()).toContain('slugify');
    for (const path of ['src', 'nope', '../etc/passwd', '', '-x', ':(glob)*'])
      expect(await checkout.readFile(head, path)).toBeUndefined();
  });

  test('lists the names in a folder of a commit; none for anything else', async () => {
    const { checkout, base } = await given.open();
    expect((await checkout.listFolder(base, 'src')).sort()).toEqual(['slugify.js']);
    expect((await checkout.listFolder(base, '')).sort()).toEqual(expect.arrayContaining(['README.md', 'src']));
    for (const path of ['README.md', 'nope', '..', '.', '-x'])
      expect(await checkout.listFolder(base, path)).toEqual([]);
  });

  test('distinguishes a file that is too large from a missing one, and can leave out large blobs', async () => {
    gitOut(given.host.work, 'checkout', '-q', 'main');
    writeFileSync(join(given.host.work, 'large.txt'), 'x'.repeat(1_000_001));
    gitOut(given.host.work, 'add', '-A');
    gitOut(given.host.work, 'commit', '-q', '-m', 'large');
    gitOut(given.host.work, 'push', '-q', given.host.bare, 'main');
    const { checkout, base } = await given.open();
    expect(await checkout.readFile(base, 'large.txt')).toBe('too large');
    expect(await checkout.readFile(base, 'small.txt')).toBeUndefined();
    const [large = '', readme = ''] = ['large.txt', 'README.md'].map((f) =>
      gitOut(given.host.bare, 'rev-parse', `main:${f}`),
    );
    expect([...(await checkout.readBlobs([large, readme], 1_000_000)).keys()]).toEqual([readme]);
    expect((await checkout.readBlobs([large, readme])).get(large)?.length).toBe(1_000_001);
  });

  test('a damaged object is an error and not a missing file', async () => {
    const { checkout, base } = await given.open();
    writeFileSync(join(checkout.workTree, 'src/new.js'), 'let x = 1;\n');
    const tree = await checkout.snapshot();
    const commit = await checkout.commit({ tree, parents: [base], message: 'm\n', author, at });
    expect(String(await checkout.readFile(commit, 'src/new.js'))).toBe('let x = 1;\n');
    const folder = gitOut(checkout.gitDir, 'rev-parse', `${commit}:src`);
    rmSync(join(checkout.gitDir, 'objects', folder.slice(0, 2), folder.slice(2)));
    await expect(checkout.readFile(commit, 'src/new.js')).rejects.toBeInstanceOf(GitFailed);
    await expect(checkout.readBlobs(['1'.repeat(40)])).rejects.toBeInstanceOf(GitFailed);
    // Other objects can still be read.
    expect(String(await checkout.readFile(base, 'src/slugify.js'))).toContain('slugify');
  });
  test('understands the modes of folders and files that old tools wrote', async () => {
    const blob = gitOut(given.host.bare, 'rev-parse', 'main:README.md');
    const treeOf = (...entries: [string, string, string][]) => {
      const bytes = entries.map(([mode, name, oid]) =>
        Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
      );
      const file = join(given.host.root, 'tree');
      writeFileSync(file, Buffer.concat(bytes));
      return gitOut(given.host.bare, 'hash-object', '-t', 'tree', '-w', '--literally', file);
    };
    // isomorphic-git refuses a tree with an unknown mode.
    const odd = given.engine.name === 'native' ? '100664' : '100644';
    const sub = treeOf([odd, 'AGENTS.md', blob], ['100644', 'x.txt', blob]);
    const commit = gitOut(given.host.bare, 'commit-tree', treeOf(['040000', 'sub', sub]), '-m', 'odd modes');
    gitOut(given.host.bare, 'update-ref', 'refs/heads/main', commit);
    const { checkout, base } = await given.open();
    expect((await checkout.readFile(base, 'sub/AGENTS.md'))?.length).toBeGreaterThan(0);
    rmSync(join(checkout.workTree, 'sub/x.txt'));
    const changes = await checkout.changes(await checkout.treeOf(base), await checkout.snapshot());
    expect(changes.filter((c) => c.newMode === '000000').map((c) => c.path)).toEqual(['sub/x.txt']);
    expect(changes.filter((c) => c.newOid !== c.oldOid).map((c) => c.path)).toEqual(['sub/x.txt']);
  });

  test('refuses a dozen objects that expand to millions of files before writing any', async () => {
    // The process of the other engine ends at its memory limit instead.
    if (given.engine.name === 'isomorphic') return;
    const [blob, mktree] = [gitOut(given.host.bare, 'rev-parse', 'main:README.md'), ['mktree', '--missing']];
    const listed = (kind: string, oid: string) =>
      Array.from({ length: 10 }, (_, i) => `${kind === 'tree' ? '040000' : '100644'} ${kind} ${oid}\t${i}\n`).join('');
    let tree = gitWith(given.host.bare, listed('blob', blob), ...mktree);
    for (let depth = 0; depth < 6; depth++) tree = gitWith(given.host.bare, listed('tree', tree), ...mktree);
    const commit = gitOut(given.host.bare, 'commit-tree', tree, '-m', 'bomb');
    gitOut(given.host.bare, 'update-ref', 'refs/heads/main', commit);
    await expect(given.open()).rejects.toThrow('git: the repository has more than 500000 files');
  });

  test('a snapshot after another checkout reads the new files', async () => {
    const { checkout, base } = await given.open();
    const before = await checkout.snapshot();
    writeFileSync(join(checkout.workTree, 'new.txt'), 'x\n');
    const tree = await checkout.snapshot();
    const commit = await checkout.commit({ tree, parents: [base], message: 'm\n', author, at });
    await checkout.checkout(commit);
    expect(await checkout.snapshot()).toBe(tree);
    await checkout.checkout(base);
    rmSync(join(checkout.workTree, 'new.txt'), { force: true });
    expect(await checkout.snapshot()).toBe(before);
  });

  test('does not run hooks or apply settings of the workspace', async () => {
    const { checkout } = await given.open();
    mkdirSync(join(checkout.workTree, '.git/hooks'), { recursive: true });
    const proof = join(given.host.root, 'proof');
    for (const hook of ['pre-commit', 'post-checkout', 'reference-transaction'])
      writeFileSync(join(checkout.workTree, '.git/hooks', hook), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    writeFileSync(join(checkout.workTree, '.git/config'), `[core]\n\tfsmonitor = touch ${proof}\n`);
    writeFileSync(join(checkout.workTree, '.gitattributes'), '* filter=evil\n');
    await checkout.snapshot();
    expect(existsSync(proof)).toBe(false);
  });

  test('treats a nested repository as ordinary files, and does not run its filter', async () => {
    const { checkout, base } = await given.open();
    const [sub, proof] = [join(checkout.workTree, 'sub'), join(given.host.root, 'proof')];
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

  test('leaves out ignored files, keeps tracked ones, and stores contents unchanged', async () => {
    const { checkout, base } = await given.open();
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

  test('exports a tree into another folder, and finds what git ignores there', async () => {
    const { checkout, base } = await given.open();
    const w = checkout.workTree;
    writeFileSync(join(w, '.gitignore'), 'deps/\n*.log\nREADME.md\n');
    writeFileSync(join(w, '.gitattributes'), '* text=auto eol=crlf\n');
    writeFileSync(join(w, 'run.sh'), 'a\nb\n', { mode: 0o755 });
    symlinkSync('../nowhere', join(w, 'src/link'));
    const tree = await checkout.snapshot();
    const status = () => gitOut(w, `--git-dir=${checkout.gitDir}`, `--work-tree=${w}`, 'status', '--short');
    const before = status();
    const folder = mkdtempSync(join(given.host.root, 'export-'));
    await checkout.export(tree, folder);
    expect(readFileSync(join(folder, 'run.sh'), 'utf8')).toBe('a\nb\n');
    expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(folder, 'src/link'))).toBe('../nowhere');
    expect(status()).toBe(before);
    const files = await checkout.files(base);
    expect(files.get('src/slugify.js')).toEqual({
      mode: '100644',
      oid: gitOut(given.host.bare, 'rev-parse', 'main:src/slugify.js'),
    });
    expect([...files.keys()].filter((path) => /^(src|run.sh|.gitignore)$/.test(path))).toEqual([]);
    mkdirSync(join(folder, 'deps/a'), { recursive: true });
    mkdirSync(join(folder, '.git'));
    for (const path of ['deps/a/x', 'src/x.log', 'new.txt', '.git/x']) writeFileSync(join(folder, path), '');
    // Git names an ignored folder; git in JavaScript names what is in it.
    expect((await checkout.ignoredIn(folder, tree)).sort()).toEqual([
      given.engine.name === 'native' ? 'deps' : expect.stringMatching(/^deps/),
      'src/x.log',
    ]);
  });

  test('refuses a change of too many files', async () => {
    // Both engines share this code, and isomorphic-git takes 3 ms per file to evaluate .gitignore.
    if (given.engine.name === 'isomorphic') return;
    const { checkout } = await given.open();
    for (let i = 0; i < 5001; i++) writeFileSync(join(checkout.workTree, `f${i}`), `${i}`);
    await expect(checkout.snapshot()).rejects.toThrow(/too large: over 5000 files/);
  });

  test('ignores pipes, and keeps files whose names are not UTF-8', async () => {
    if (given.engine.name === 'native') {
      // Git adds the file whose name is not UTF-8, because Node cannot write such a name.
      gitOut(
        given.host.work,
        'update-index',
        '--add',
        '--cacheinfo',
        '100644',
        gitOut(given.host.work, 'rev-parse', 'HEAD:README.md'),
        'plain',
      );
      execFileSync(
        'sh',
        [
          '-c',
          'printf "caf\\351.txt" | xargs -0 -I{} cp README.md {} && git add -A && git -c user.name=T -c user.email=t@e.x commit -qm odd',
        ],
        { cwd: given.host.work },
      );
      gitOut(given.host.work, 'push', '-q', given.host.bare, 'main');
    }
    const { checkout, base } = await given.open();
    const w = checkout.workTree;
    writeFileSync(join(w, 'a'), 'x');
    execFileSync('mkfifo', [join(w, 'pipe')]);
    const changes = await checkout.changes(await checkout.treeOf(base), await checkout.snapshot());
    expect(changes.map((c) => `${c.newMode} ${c.path}`)).toEqual(['100644 a']);
    execFileSync('mkfifo', [join(w, 'src/.gitignore')]);
    await expect(checkout.snapshot()).rejects.toThrow('src/.gitignore must be a file');
  });
}, true);
