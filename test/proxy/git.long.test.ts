import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitEngine, Remote } from '../../src/git/engine.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { readProxies } from '../../src/host/proxies.ts';
import { at, author } from '../support/each-engine.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';
import {
  type Authority,
  type CompanyProxy,
  makeAuthority,
  startCompanyProxy,
} from '../support/stand-ins/company-proxy.ts';

const authority = makeAuthority(['git.example.test']) as Authority;
const declare = authority === undefined ? describe.skip : describe;
const user = { user: 'us@er', password: 'hidden:word/of the proxy' };
let proxy: CompanyProxy;
let host: Awaited<ReturnType<typeof serveSampleRepository>>;
let remote: Remote;

const through = (href: string): Remote => {
  const found = readProxies({ HTTPS_PROXY: href }).proxies.find(new URL('https://git.example.test'));
  return { url: 'https://git.example.test/octocat/sample', token: 'good-token', proxy: found };
};

beforeEach(async () => {
  proxy = await startCompanyProxy(authority, user);
  host = await serveSampleRepository();
  proxy.hosts.set('git.example.test', Number(new URL(host.url).port));
  remote = through(proxy.withCredentials);
});
afterEach(async () => {
  await proxy.close();
  host.close();
});
afterAll(() => authority?.remove());

const engines: [string, () => GitEngine][] = [
  ['native', () => nativeGit(authority.file)],
  ['isomorphic', () => isomorphicProcess({ environment: { NODE_EXTRA_CA_CERTS: authority.file } })],
];

declare.each(engines)('%s git', (_name, make) => {
  const failing = async (from: Remote) => {
    const error = await make()
      .listBranches(from)
      .catch((each) => each);
    expect(`${error.message}`).not.toMatch(/hidden|us@er|us%40/);
    return error as { fault: string; message: string };
  };

  test('fetches and pushes through the proxy', async () => {
    const folder = join(host.root, 'checkout');
    const folders = { gitDir: join(folder, 'git'), workTree: join(folder, 'work') };
    const checkout = await make().open(remote, folders);
    const base = (await checkout.fetch('main')) ?? '';
    expect(base).toBe(gitOut(host.bare, 'rev-parse', 'main'));
    await checkout.checkout(base);
    writeFileSync(join(checkout.workTree, 'new.txt'), 'new\n');
    const commit = await checkout.commit({
      ...{ tree: await checkout.snapshot(), parents: [base], message: 'new', author, at },
    });
    await checkout.push(commit, 'agent/1');
    await checkout.close();
    expect(gitOut(host.bare, 'rev-parse', 'agent/1')).toBe(commit);
    expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT git.example.test:443']));
    expect(readFileSync(join(folders.gitDir, 'config'), 'utf8')).not.toMatch(/proxy|hidden/);
  });

  test('says which setting is wrong', async () => {
    expect(await failing(through(proxy.withCredentials.replace('hidden', 'wronghidden')))).toMatchObject({
      fault: 'unreachable',
      message: expect.stringContaining('(HTTPS_PROXY) refused the user and the password (HTTP 407)'),
    });
    expect((await failing(through(proxy.url))).message).toContain('requires a user and a password');
    proxy.refused.add('git.example.test');
    expect((await failing(remote)).message).toContain('refused to connect to git.example.test (HTTP 403)');
    const gone = remote;
    await proxy.close();
    expect(await failing(gone)).toMatchObject({
      fault: 'unreachable',
      message: expect.stringContaining("git: the service's proxy (HTTPS_PROXY) could not be reached"),
    });
  });

  test('still tells what the host answers', async () => {
    expect(await failing({ ...remote, token: undefined })).toMatchObject({ fault: 'auth' });
    expect(await failing({ ...remote, token: 'bad-token' })).toMatchObject({ fault: 'missing' });
    host.stumble(1);
    expect(await failing(remote)).toMatchObject({ fault: 'unreachable', message: expect.stringContaining('503') });
  });
});

declare('a certificate of an unknown authority', () => {
  test('is explained', async () => {
    await expect(nativeGit().listBranches(remote)).rejects.toThrow(/NODE_EXTRA_CA_CERTS/);
    await expect(isomorphicProcess().listBranches(remote)).rejects.toThrow(/NODE_EXTRA_CA_CERTS/);
  });
});
