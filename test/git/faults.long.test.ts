import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Checkout, GitEngine, GitFailed } from '../../src/git/engine.ts';
import { isomorphicGit } from '../../src/git/javascript/isomorphic.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';
import { between, children, serve, wrong } from './faulty-hosts.ts';

const author = { name: 'bot[bot]', email: '1+bot[bot]@users.noreply.github.com' };
const at = new Date('2026-01-02T03:04:05Z');

interface Opening {
  signal?: AbortSignal;
  limitSeconds?: number;
  patienceSeconds?: number;
}

describe.each<[string, () => GitEngine]>([
  ['native', nativeGit],
  ['isomorphic', isomorphicProcess],
])('%s', (name, make) => {
  const engine = make();
  let host: Awaited<ReturnType<typeof serveSampleRepository>>;
  const opened: Checkout[] = [];
  beforeEach(async () => {
    host = await serveSampleRepository();
  });
  afterEach(async () => {
    for (const checkout of opened.splice(0)) await checkout.close();
    host.close();
  });
  async function open(url = host.url, { signal, limitSeconds, patienceSeconds = 60 }: Opening = {}) {
    const folder = join(host.root, `c${opened.length}`);
    const remote = { url, token: 'good-token', patienceSeconds, limitSeconds };
    const checkout = await engine.open(remote, { gitDir: join(folder, 'g'), workTree: join(folder, 'w') }, signal);
    opened.push(checkout);
    return checkout;
  }

  test.each([
    'stall',
    'reset',
  ] as const)('a %s in the middle of a pack counts as an unreachable remote', async (then) => {
    writeFileSync(join(host.work, 'large.bin'), randomBytes(1_000_000));
    gitOut(host.work, 'add', '-A');
    gitOut(host.work, 'commit', '-q', '-m', 'large');
    gitOut(host.work, 'push', '-q', host.bare, 'main');
    const proxy = await between(host.url, 300_000, then);
    // A short patience only here: slow sending would count as silence on a busy machine.
    const checkout = await open(proxy.url, { patienceSeconds: 1 });
    await expect(checkout.fetch('main')).rejects.toMatchObject({ name: 'GitFailed', fault: 'unreachable' });
    proxy.close();
  });

  test('a remote that sends slowly fails at the time limit', async () => {
    writeFileSync(join(host.work, 'large.bin'), randomBytes(1_000_000));
    gitOut(host.work, 'add', '-A');
    gitOut(host.work, 'commit', '-q', '-m', 'large');
    gitOut(host.work, 'push', '-q', host.bare, 'main');
    const proxy = await between(host.url, 0, 'drip');
    const checkout = await open(proxy.url, { limitSeconds: 3 });
    const told = { name: 'GitFailed', fault: 'slow', message: 'git: the remote did not finish within 3 s' };
    await expect(checkout.fetch('main')).rejects.toMatchObject(told);
    proxy.close();
  });

  test('an empty repository and a missing branch are not failures', async () => {
    expect(await (await open()).fetch('no-such-branch')).toBeUndefined();
    gitOut(host.bare, 'update-ref', '-d', 'refs/heads/main');
    expect(await engine.listBranches({ url: host.url, token: 'good-token' })).toEqual(new Map());
    expect(await (await open()).fetch('main')).toBeUndefined();
  });

  test('a branch that was force-pushed is fetched as it is now', async () => {
    const checkout = await open();
    const old = await checkout.fetch('main');
    gitOut(host.work, 'commit', '-q', '--amend', '-m', 'rewritten');
    gitOut(host.work, 'push', '-qf', host.bare, 'main');
    const now = await checkout.fetch('main');
    expect(now).toBe(gitOut(host.bare, 'rev-parse', 'main'));
    expect(now).not.toBe(old);
    await checkout.checkout(now ?? '');
  });

  test.each([
    ['a hook', 'pre-receive', 'echo protected by the hook; exit 1'],
    ['a protected branch', 'update', 'echo GH006: Protected branch update failed; exit 1'],
  ])('a push that %s declines fails as rejected', async (_by, hook, script) => {
    writeFileSync(join(host.bare, 'hooks', hook), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const checkout = await open();
    const base = (await checkout.fetch('main')) ?? '';
    const tree = await checkout.treeOf(base);
    const commit = await checkout.commit({ tree, parents: [base], message: 'm\n', author, at });
    await expect(checkout.push(commit, 'agent/declined')).rejects.toMatchObject({ fault: 'rejected' });
    expect(gitOut(host.bare, 'branch', '--list', 'agent/*')).toBe('');
  });

  test('a response that is not git data is reported as the right fault', async () => {
    const bad = await serve((req, res) => wrong[req.url?.split('/')[1] ?? '']?.[0](res));
    const direct = name === 'native' ? engine : isomorphicGit();
    const seen: Record<string, unknown> = {};
    const why = (act: Promise<unknown>) =>
      act.then(String, (e: GitFailed) => [e.fault, e.retryAfterMs].filter(Boolean));
    for (const kind of Object.keys(wrong)) {
      const folders = { gitDir: join(host.root, kind, 'g'), workTree: join(host.root, kind, 'w') };
      const checkout = await direct.open({ url: `${bad.url}/${kind}/x`, token: 't' }, folders);
      const tree = gitOut(folders.gitDir, 'hash-object', '-t', 'tree', '-w', '/dev/null');
      const commit = await checkout.commit({ tree, parents: [], message: 'm\n', author, at });
      seen[kind] = [await why(checkout.fetch('main')), await why(checkout.push(commit, 'agent/x'))];
      await checkout.close();
    }
    bad.close();
    expect(seen).toEqual(Object.fromEntries(Object.entries(wrong).map(([kind, [, told]]) => [kind, [told, told]])));
  });

  test('a host that fails between the two requests of a push does not count as rejecting it', async () => {
    for (const kind of ['page', 'unavailable', 'reset'] as const) {
      const leaving = await serve((req, res) => {
        if (req.method === 'POST') return wrong[kind]?.[0](res);
        request(new URL(req.url ?? '', host.url), { headers: req.headers }, (answer) => {
          res.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(res);
        }).end();
      });
      const checkout = await open(`${leaving.url}/octocat/sample`);
      const tree = gitOut(checkout.gitDir, 'hash-object', '-t', 'tree', '-w', '/dev/null');
      const commit = await checkout.commit({ tree, parents: [], message: 'm\n', author, at });
      await expect(checkout.push(commit, 'agent/x')).rejects.toMatchObject({ fault: wrong[kind]?.[1][0] });
      leaving.close();
    }
  });

  test('a host that cannot be reached is unreachable', async () => {
    const noTls = host.url.replace('http:', 'https:');
    for (const url of ['https://127.0.0.1:1/a/b', 'https://host.invalid/a/b', noTls])
      await expect(engine.listBranches({ url })).rejects.toMatchObject({ fault: 'unreachable' });
  });

  test('an endless list of branches fails', async () => {
    const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
    const refs = Array.from({ length: 1000 }, (_, i) => line(`${'1'.repeat(40)} refs/heads/${i}-${'x'.repeat(200)}\n`));
    const service = `${line('# service=git-upload-pack\n')}0000${line(`${'1'.repeat(40)} HEAD\0 x\n`)}`;
    const endless = await serve((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/x-git-upload-pack-advertisement' });
      res.write(service);
      const more = () => {
        while (!res.destroyed && res.write(refs.join('')));
      };
      res.on('drain', more);
      more();
    });
    const limited = isomorphicProcess({ maxAnswerBytes: 20_000_000 });
    const asked = name === 'native' ? engine : limited;
    await expect(asked.listBranches({ url: endless.url })).rejects.toMatchObject({ name: 'GitFailed' });
    endless.close();
  });

  test('a renewed token is used from then on', async () => {
    const checkout = await open();
    await checkout.renewToken('ended-token');
    await expect(checkout.fetch('main')).rejects.toBeInstanceOf(Error);
    await checkout.renewToken('good-token');
    expect(await checkout.fetch('main')).toHaveLength(40);
  });

  test('no process is left after a checkout is closed or cancelled', async () => {
    const before = children();
    const stop = new AbortController();
    const one = await open(host.url, { signal: stop.signal });
    const two = await open();
    await one.fetch('main');
    stop.abort();
    await expect(one.fetch('main')).rejects.toMatchObject({ name: 'AbortError' });
    await two.close();
    while (children().length > before.length) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});

describe('git in JavaScript within its limits', () => {
  let host: Awaited<ReturnType<typeof serveSampleRepository>>;
  beforeAll(async () => {
    host = await serveSampleRepository();
    writeFileSync(join(host.work, 'large.bin'), randomBytes(3_000_000));
    gitOut(host.work, 'add', '-A');
    gitOut(host.work, 'commit', '-q', '-m', 'large');
    gitOut(host.work, 'push', '-q', host.bare, 'main');
  });
  afterAll(() => host.close());

  test.each([
    ['a repository that is too large', { maxAnswerBytes: 1_000_000 }, /larger than 1 MB.*install git/],
    ['a process that needs too much memory', { processMb: 50 }, /more than 50 MB.*install git/],
  ])('%s is refused with a remedy', async (name, limits, message) => {
    const folders = { gitDir: join(host.root, name, 'g'), workTree: join(host.root, name, 'w') };
    const fetched = async () => {
      const checkout = await isomorphicProcess(limits).open({ url: host.url, token: 'good-token' }, folders);
      return checkout.fetch('main').finally(checkout.close);
    };
    await expect(fetched()).rejects.toMatchObject({ fault: 'broken', message: expect.stringMatching(message) });
  });
});
