import { closedHosts } from '../../src/worker/workspace/trial-place.ts';

const closed = closedHosts(['https://git.example.com/a/b', 'https://github.com', 'https://api.github.com']);

test.each([
  'github.com',
  'API.GitHub.com',
  'raw.githubusercontent.com',
  '*.githubusercontent.com',
  'git.example.com',
  'mirror.git.example.com',
  '*.example.com',
  '*.com',
  'github.com:443',
])('commands of a trial do not reach %s', (host) => expect(closed(host)).toBe(true));

test.each([
  'registry.npmjs.org',
  'example.com',
  '*.pythonhosted.org',
  'notgithub.com',
  'github.com.example.org',
])('commands of a trial reach %s', (host) => expect(closed(host)).toBe(false));
