import {
  githubName,
  isSameAddress,
  normalUrl,
  resolveOnce,
  serverUrlProblem,
  urlProblem,
} from '../../src/git/remote-url.ts';
import { isClosedHost } from '../../src/host/closed-address.ts';
import { noProxies } from '../../src/host/proxies.ts';

const rules = { githubOrigin: 'https://github.com', allowPrivateHosts: false, proxies: noProxies };

test.each([
  'https://github.com/octocat/hello',
  'https://github.com/octocat/hello.git',
  'https://gitlab.example.org/group/sub/name',
  'https://8.8.8.8/a/b',
  'https://[2606:4700::1111]/a/b',
])('%s can be connected', (url) => {
  expect(urlProblem(url, rules)).toBeUndefined();
});

test.each([
  'http://github.com/octocat/hello',
  'http://example.org/a/b',
  'ftp://example.org/a/b',
  'file:///etc/passwd',
  'ssh://git@github.com/a/b',
  'git@github.com:a/b.git',
  'ext::sh -c id',
  '/etc',
  'not a url',
  'https://user@github.com/a/b',
  'https://user:pass@example.org/a/b',
  'https://github.com/a/b?x=1',
  'https://github.com/a/b#x',
  'https://github.com',
  'https://github.com//',
  'https://github.com/a//b',
  'https://localhost/a/b',
  'https://LOCALHOST./a/b',
  'https://git.localhost/a/b',
  'https://printer.local/a/b',
  'https://metadata.google.internal/a/b',
  'https://127.0.0.1/a/b',
  'https://127.1/a/b',
  'https://2130706433/a/b',
  'https://0x7f000001/a/b',
  'https://0177.0.0.1/a/b',
  'https://0/a/b',
  'https://10.1.2.3/a/b',
  'https://172.16.0.1/a/b',
  'https://192.168.1.1:8443/a/b',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/a/b',
  'https://[::1]/a/b',
  'https://[::]/a/b',
  'https://[::ffff:127.0.0.1]/a/b',
  'https://[::ffff:7f00:1]/a/b',
  'https://[64:ff9b::7f00:1]/a/b',
  'https://[2002:7f00:1::]/a/b',
  'https://[fe80::1]/a/b',
  'https://[fc00::1]/a/b',
  'https://[fd00:ec2::254]/a/b',
  'https://①②⑦.0.0.1/a/b',
  'https://127。0。0。1/a/b',
  'https://%31%32%37.0.0.1/a/b',
  'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/a/b',
  'https://0300.0250.0.1/a/b',
  'https://3232235521/a/b',
  'https://0xA9FEA9FE/latest',
  'https://0xa9.254.0251.254/latest',
  'https://169.254.169.254./latest',
  'https://[0:0:0:0:0:0:0:1]/a/b',
  'https://[::127.0.0.1]/a/b',
  'https://[::ffff:10.0.0.1]/a/b',
  'https://[::ffff:a9fe:a9fe]/a/b',
  'https://[64:ff9b:1::1]/a/b',
  'https://[fe80::1%25eth0]/a/b',
  'https://[ff02::1]/a/b',
  'https://224.0.0.1/a/b',
  'https://255.255.255.255/a/b',
  'https://192.0.0.192/a/b',
  'https://198.18.0.1/a/b',
  'https://host.docker.internal/a/b',
  'https://router.home.arpa/a/b',
  'https://metadata/a/b',
  'https://github.com@127.0.0.1/a/b',
  'https://github.com:x@127.0.0.1/a/b',
  'https://127.0.0.1#@github.com/a/b',
  'https://github.com:99999/a/b',
  'https://github.com:0x1bb/a/b',
  'https://github.com/%61cme/b',
  'https:github.com/a/b',
  'https:/github.com/a/b',
  'https:\\\\github.com\\a\\b',
  ' https://github.com/a/b',
  'https://github.com/a/b ',
  'ht\ntps://github.com/a/b',
  'https://git\thub.com/a/b',
  'https://github.com/a\u0000/b',
  'javascript:alert(1)',
  'data:text/plain,x',
  '-uhttps://github.com/a/b',
  '--upload-pack=touch /tmp/x',
])('%s cannot be connected', (url) => {
  expect(urlProblem(url, rules)).toEqual(expect.any(String));
});

test('the operator can allow private hosts, and GitHub may be such a host', () => {
  const open = { ...rules, allowPrivateHosts: true };
  expect(urlProblem('http://127.0.0.1:3000/a/b', open)).toBeUndefined();
  expect(urlProblem('https://10.0.0.1/a/b', open)).toBeUndefined();
  expect(urlProblem('http://example.org/a/b', open)).toEqual(expect.any(String));
  const own = { ...rules, githubOrigin: 'http://127.0.0.1:4001' };
  expect(urlProblem('http://127.0.0.1:4001/a/b', own)).toBeUndefined();
  expect(urlProblem('http://127.0.0.1:4002/a/b', own)).toEqual(expect.any(String));
});

test.each([
  ['ssh://git@github.com/a/b', /https address such as/],
  ['https://github.com:99999/a/b', /https address such as/],
  ['https://user@example.org/a/b', /user name or password/],
  ['https://:pass@example.org/a/b', /user name or password/],
  ['https://example.org/a/b?x', /query or a fragment/],
  ['https://example.org/a/b#x', /query or a fragment/],
  ['https://example.org//', /name a repository/],
  ['https://example.org/a//b', /empty parts/],
  ['http://example.org/a/b', /begin with https/],
  ['http://127.0.0.1/a/b', /begin with https/],
  ['https://127.0.0.1/a/b', /private, loopback/],
])('%s is refused with its reason', (url, reason) => {
  expect(urlProblem(url, rules)).toMatch(reason);
});

test.each([
  ['https://example.org/mcp', undefined],
  ['https://example.org', undefined],
  ['example.org/mcp', 'must be an https address such as https://example.com/mcp'],
  ['https://user@example.org/mcp', 'must not contain a user name or password'],
  ['https://example.org/mcp?x', 'must not contain a query or a fragment'],
  ['http://example.org/mcp', 'must begin with https://'],
  ['https://127.0.0.1/mcp', 'must not name a private, loopback, link-local or metadata address'],
])('%s as the address of a server: %s', (url, problem) => {
  expect(serverUrlProblem(url, rules)).toBe(problem);
});

test('a host name that only looks like a closed one is open', () => {
  expect(['localhost', 'a.local', '10.0.0.1', 'fe80::1'].map(isClosedHost)).toEqual([true, true, true, true]);
  expect(['localhost.org', 'local', '8.8.8.8', '2606:4700::1111'].map(isClosedHost)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('a host is resolved and its address is checked', async () => {
  await expect(resolveOnce('https://127.0.0.1/a/b', rules)).rejects.toThrow(/private/);
  await expect(resolveOnce('https://localhost/a/b', rules)).rejects.toThrow(/private/);
  expect(await resolveOnce('https://8.8.8.8/a/b', rules)).toEqual({ resolved: '8.8.8.8:443:8.8.8.8' });
  expect(await resolveOnce('https://8.8.8.8:8443/a/b', rules)).toEqual({ resolved: '8.8.8.8:8443:8.8.8.8' });
  expect(await resolveOnce('http://8.8.8.8/a/b', rules)).toEqual({ resolved: '8.8.8.8:80:8.8.8.8' });
  expect(await resolveOnce('https://[2606:4700::1111]/a/b', rules)).toEqual({
    resolved: '[2606:4700::1111]:443:[2606:4700::1111]',
  });
  expect(await resolveOnce('https://github.com/a/b', rules)).toEqual({});
  expect(await resolveOnce('https://127.0.0.1/a/b', { ...rules, allowPrivateHosts: true })).toEqual({});
});

test('names and addresses are normalized', () => {
  expect(githubName('https://github.com/octo-cat/hello.world.git', rules.githubOrigin)).toEqual({
    owner: 'octo-cat',
    repo: 'hello.world',
  });
  // Logins of managed users contain an underscore.
  expect(githubName('https://github.com/mona_acme/vault.GIT', rules.githubOrigin)).toEqual({
    owner: 'mona_acme',
    repo: 'vault',
  });
  for (const url of ['https://github.com/octocat', 'https://github.com/a/b/c', 'https://example.org/a/b', 'no address'])
    expect(githubName(url, rules.githubOrigin)).toBeUndefined();
  const below = 'https://example.com/github';
  expect(githubName(`${below}/acme/shop`, below)).toEqual({ owner: 'acme', repo: 'shop' });
  expect(githubName('https://example.com/GitHub/acme/shop', below)).toEqual({ owner: 'acme', repo: 'shop' });
  for (const url of ['https://example.com/acme/shop', 'https://example.com/githubs/shop', `${below}/shop`])
    expect(githubName(url, below)).toBeUndefined();
  const isSame = (a: string, b: string) => isSameAddress(a, b, rules.githubOrigin);
  expect(isSame('https://github.com/a/b', 'https://github.com/A/B')).toBe(true);
  expect(isSame('https://github.com/a/b', 'https://github.com/a/c')).toBe(false);
  expect(isSame('https://example.org/a/b', 'https://example.org/A/B')).toBe(false);
  expect(normalUrl('https://GitHub.com/A/b.git/')).toBe('https://github.com/A/b');
});
