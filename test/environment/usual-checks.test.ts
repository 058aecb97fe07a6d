import { neededServices, usualChecks } from '../../src/environment/usual-checks.ts';
import type { Checkout } from '../../src/git/engine.ts';

/** The checks that are found in these files, by path and content. */
function found(files: Record<string, string>) {
  const readFile = async (_commit: string, path: string) =>
    files[path] === undefined ? undefined : Buffer.from(files[path]);
  return usualChecks({ readFile } as unknown as Checkout, 'commit', new Map(Object.entries(files)));
}
const scripts = (test: string, more: object = {}) => JSON.stringify({ scripts: { test }, ...more });

test.each([
  [{ 'README.md': '' }, []],
  [{ 'package.json': scripts('jest') }, [['npm test']]],
  [{ 'package.json': scripts('jest'), 'pnpm-lock.yaml': '' }, [['pnpm test']]],
  [{ 'package.json': scripts('jest', { packageManager: 'yarn@4.1.0' }), 'package-lock.json': '' }, [['yarn test']]],
  [{ 'package.json': scripts('echo "Error: no test specified" && exit 1') }, []],
  [{ 'package.json': '{"scripts": []' }, []],
  [{ 'package.json': scripts('jest'), 'deno.json': '{}' }, [['npm test']]],
  [{ 'deno.json': '{}' }, [['deno test']]],
  [{ Makefile: 'all:\n\ttrue\ncheck : all\ntest:\n' }, [['make test', 'make check']]],
  [{ Makefile: 'test := 1\n# check:\n\ttest:\n' }, []],
  [{ 'go.mod': '', 'Cargo.toml': '', 't/basic.t': '' }, [['go test ./...'], ['cargo test'], ['prove -lr t']]],
  [{ 'src/tests/test_x.py': '' }, [['python3 -m pytest', 'python3 -m unittest']]],
  [{ Rakefile: '', Gemfile: '', 'test/x.rb': '' }, [['bundle exec rake test', 'bundle exec rake spec']]],
  [{ 'pom.xml': '', mvnw: '' }, [['sh ./mvnw -B -q -o test']]],
])('the usual checks of %j', async (files, commands) => {
  expect(await found(files as Record<string, string>)).toEqual(commands);
});

test.each([
  ['Error: connect ECONNREFUSED 127.0.0.1:5432', [5432]],
  ['could not connect to server: Connection refused\n\tIs the server running on host "localhost" and port 5432?', []],
  ['connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused', [5432]],
  ['Error 111 connecting to localhost:6379. Connection refused.', [6379]],
  ['Could not connect to Redis at 127.0.0.1:6379: Connection refused', [6379]],
  ['dial tcp [::1]:27017: connect: connection refused', [27017]],
  ['connect ECONNREFUSED 127.0.0.1:54321', []],
  ['connect ECONNREFUSED 192.0.2.1:5432', []],
])('%s asks for the services at %j', (output, ports) => {
  expect(neededServices([output]).map(({ port }) => port)).toEqual(ports);
});
