import { parseReference, registryHost } from '../../src/images/reference.ts';
import { timeOf } from '../support/machine/processor-time.ts';

const digest = `sha256:${'0a'.repeat(32)}`;

test.each([
  ['registry.example.org/node:24', ['registry.example.org', 'node', '24']],
  ['registry.example.org/team/app', ['registry.example.org', 'team/app', 'latest']],
  ['registry.example.org:5000/a/b/c_d--e.f:v1.0_x', ['registry.example.org:5000', 'a/b/c_d--e.f', 'v1.0_x']],
  ['localhost/app', ['localhost', 'app', 'latest']],
  ['localhost:5000/app', ['localhost:5000', 'app', 'latest']],
  ['127.0.0.1:5000/app:1', ['127.0.0.1:5000', 'app', '1']],
  ['[::1]:5000/app:1', ['[::1]:5000', 'app', '1']],
  [`registry.example.org/app@${digest}`, ['registry.example.org', 'app', digest]],
  [`registry.example.org/app:24@${digest}`, ['registry.example.org', 'app', digest]],
])('%s names its registry', (text, [registry, repository, version]) => {
  expect(parseReference(text)).toMatchObject({ registry, repository, version, name: text });
});

test.each([
  ['node', 'library/node', 'latest'],
  ['node:24', 'library/node', '24'],
  ['team/app:1', 'team/app', '1'],
])('%s is an image of the default registry', (text, repository, version) => {
  const found = parseReference(text, 'mirror.example.org:5000/hub');
  expect(found).toMatchObject({
    registry: 'mirror.example.org:5000',
    repository: `hub/${repository}`,
    version,
    name: text,
  });
  expect(() => parseReference(text)).toThrow(/names no registry; write registry\.example\.org\/.+ IMAGE_REGISTRY/);
});

test.each([
  '',
  'registry.example.org/',
  'registry.example.org/App',
  'registry.example.org/app:',
  'registry.example.org/app:a b',
  'registry.example.org/../app',
  'registry.example.org//app',
  'registry.example.org/app?x=1',
  'registry.example.org/app#x',
  'registry.example.org/app%2f..',
  'https://registry.example.org/app',
  'user@registry.example.org/app',
  'user:password@registry.example.org/app',
  'registry.example.org\\@other.example.org/app',
  `registry.example.org/app@sha256:${'0a'.repeat(31)}`,
  `registry.example.org/app@md5:${'0a'.repeat(16)}`,
  'registry.example.org/app:1\nHost: x',
  `registry.example.org/${'a/'.repeat(300)}a`,
  '--help',
  '/etc/passwd',
  'oci:/etc',
])('%j is not an image', (text) => {
  expect(() => parseReference(text, 'mirror.example.org')).toThrow('is not an image name');
});

test('a hostile name is refused quickly', async () => {
  const parse = () => {
    for (const text of [`${'a-'.repeat(240)}!`, `${'a.'.repeat(240)}!`, `a.b/${'a__'.repeat(150)}!`])
      expect(() => parseReference(text)).toThrow('is not an image name');
  };
  expect(await timeOf(parse)).toBeLessThan(2000);
});

test.each([
  ['registry.example.org', 'registry.example.org'],
  ['Registry.Example.ORG:443', 'registry.example.org'],
  ['registry.example.org:5000', 'registry.example.org:5000'],
  ['localhost:5000', 'localhost:5000'],
  ['127.0.0.1:5000', '127.0.0.1:5000'],
  ['[::1]:5000', '[::1]:5000'],
  ['', undefined],
  ['registry.example.org/team', undefined],
  ['https://registry.example.org', undefined],
  ['user@registry.example.org', undefined],
  ['*.example.org', undefined],
  ['registry.example.org:70000', undefined],
  ['registry.example.org\n', undefined],
  [`${'a.'.repeat(200)}org`, undefined],
])('%j is the registry host %j', (text, host) => {
  expect(registryHost(text)).toBe(host);
});
