import { parse } from 'yaml';
import { draftSettings, hasFailingTests, hasPassed, neededServices, usualChecks } from '../../src/environment/draft.ts';
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

const tried = (command: string, exitCode: number | null = 0) => ({ command, exitCode, seconds: 1, output: '' });

test('a draft of .deckhand.yml is valid and does what the trial did, without trusting refused hosts', () => {
  const trial = {
    image: 'registry.example.org/tools:1.2',
    commands: [
      tried('npm ci'),
      tried('echo "a: b" # \u202E\n- x'),
      tried('echo \u3164\u115F\u2800\uFE00\u00A0\u2003\uFFA0\u{E0100}'),
      tried('true'),
      tried('npm test', 4),
      tried('slow', null),
    ],
    setupCommands: 3,
    tried: [],
    missing: [],
    services: [],
    checkout: [],
    refusedHosts: ['a.example.org', '192.0.2.1', 'other hosts', 'x.org\nchecks: [evil]'].map((host) => ({
      host,
      times: 3,
    })),
  };
  const draft = draftSettings(trial) ?? '';
  expect(draft.split('\n')).toEqual([
    'image: "registry.example.org/tools:1.2"',
    'setup:',
    '  - npm ci',
    '  - "echo \\"a: b\\" # \\u202E\\n- x"',
    '  - "echo \\u3164\\u115F\\u2800\\uFE00\\u00A0\\u2003\\uFFA0\\U000E0100"',
    'checks:',
    '  - "true"',
    '  - npm test # exit code 4 in the trial',
    '  - slow # was stopped in the trial',
    '# These hosts were refused. To allow those that you trust, remove the # before the lines you need.',
    '# network:',
    '#   setup: [defaults, a.example.org]',
    '#   agent: [a.example.org] # also for checks',
    '',
  ]);
  const commands = trial.commands.map(({ command }) => command);
  const base = { image: trial.image, setup: commands.slice(0, 3), checks: commands.slice(3) };
  expect(parse(draft)).toEqual(base);
  expect(parse(draft.replace(/^# (network| )/gm, '$1'))).toEqual({
    ...base,
    network: { setup: ['defaults', 'a.example.org'], agent: ['a.example.org'] },
  });
});

test('a draft has what the trial found, and as comments what people should decide', () => {
  const none = {
    image: null,
    commands: [],
    setupCommands: 0,
    tried: [],
    missing: [],
    services: [],
    refusedHosts: [],
    checkout: [],
  };
  expect(draftSettings(none)).toBeNull();
  const detected = {
    ...none,
    commands: [tried('npm ci'), tried('cd docs && pip3 install -r requirements.txt', 1)],
    setupCommands: 2,
    tried: [tried('npm test'), tried('make check', 2)],
    missing: [{ program: 'go', command: 'go mod download', image: 'docker.io/library/golang:1' }],
    services: [{ run: 'redis-server --save ""', port: 6379 }],
    checkout: ['submodules', 'lfs'],
  };
  expect(draftSettings(detected)?.split('\n')).toEqual([
    'checkout: { submodules: true, lfs: true }',
    '# image: "docker.io/library/golang:1" # an image for go, which is not installed',
    'setup:',
    '  - npm ci',
    '#   - "cd docs && pip3 install -r requirements.txt" # exit code 1 in the trial',
    '#   - go mod download # where go is installed',
    'checks:',
    '  - npm test # 1 s in the trial',
    '# Commands could not connect to these services. They need programs that are installed where commands run.',
    '# services:',
    '#   - { run: "redis-server --save \\"\\"", port: 6379 }',
    '',
  ]);
  const nothingWorks = { ...none, commands: [tried('npm ci', 1)], setupCommands: 1 };
  expect(parse(draftSettings(nothingWorks) ?? '')).toBeNull();
});

test.each([
  ['nothing of unittest', 0, 'Ran 0 tests in 0.000s\n\nOK\n', false, false],
  ['nothing of Node', 0, 'ℹ tests 0\nℹ suites 0\n', false, false],
  ['nothing of Node, as TAP', 0, '# tests 0\n# pass 0\n', false, false],
  ['ten tests of Node', 0, 'ℹ tests 10\nℹ pass 10\n', true, false],
  ['one test of unittest', 0, 'Ran 1 test in 0.001s\n\nOK\n', true, false],
  ['a failing test of pytest', 1, '=== short test summary info ===\n1 failed in 0.03s\n', false, true],
  ['a file that pytest cannot import', 2, 'Interrupted: 1 error during collection\n', false, false],
  ['no pytest', 1, '/usr/bin/python3: No module named pytest\n', false, false],
])('a usual check that says: %s', (_what, exitCode, output, passed, failed) => {
  const result = { command: 'x', exitCode, seconds: 1, output };
  expect([hasPassed(result), hasFailingTests(result)]).toEqual([passed, failed]);
  const trial = {
    ...{ image: null, commands: [], setupCommands: 0, missing: [], services: [], checkout: [] },
    refusedHosts: [],
  };
  expect(draftSettings({ ...trial, tried: [result] })).toBe(passed ? 'checks:\n  - x # 1 s in the trial\n' : null);
});
