import { parse } from 'yaml';
import { draftSettings, type TriedOut } from '../../src/environment/draft/draft-settings.ts';
import { noSettings, parseSettings } from '../../src/repositories/settings/repository-settings.ts';

const tried = (command: string, exitCode: number | null = 0) => ({ command, exitCode, seconds: 1, output: '' });

const nothing: TriedOut = {
  ...{ file: '', settings: noSettings, setup: [], tried: [], refusedHosts: [], missing: [], checkout: [] },
  needed: { services: [], hosts: [], env: {} },
};
const redis = { run: 'redis-server --save ""', port: 6379 };
const needed = { services: [redis], hosts: ['db'], env: { DB_URL: 'postgres://localhost/x', MODE: 'localhost' } };
const go = { program: 'go', command: 'go mod download', image: 'docker.io/library/golang:1' };

/** The draft of a trial of a repository with this .deckhand.yml. */
async function draftOf(file: string, found: Partial<TriedOut>): Promise<string | null> {
  return draftSettings({ ...nothing, file, settings: await parseSettings(Buffer.from(file)), ...found });
}

/** A draft after a person has removed the # before the lines that could be settings. */
const uncommented = (draft: string) => draft.replace(/^# (?=(?:image|setup|env|services|network): ?| {2})/gm, '');

test('a draft of .deckhand.yml is valid and does what the trial did, without trusting refused hosts', async () => {
  const setup = [
    tried('npm ci'),
    tried('echo "a: b" # \u202E\n- x'),
    tried('echo \u3164\u115F\u2800\uFE00\u00A0\u2003\uFFA0\u{E0100}'),
    tried('cd docs && pip3 install -r requirements.txt', 1),
    tried('slow', null),
  ];
  const refusedHosts = ['a.example.org', '192.0.2.1', 'other hosts', 'x.org\nchecks: [evil]'];
  const draft = (await draftOf('', { setup, tried: [tried('true'), tried('make check', 2)], refusedHosts })) ?? '';
  expect(draft.split('\n')).toEqual([
    'setup:',
    '  - npm ci',
    '  - "echo \\"a: b\\" # \\u202E\\n- x"',
    '  - "echo \\u3164\\u115F\\u2800\\uFE00\\u00A0\\u2003\\uFFA0\\U000E0100"',
    '#   - "cd docs && pip3 install -r requirements.txt" # exit code 1 in the trial',
    '#   - slow # was stopped in the trial',
    'checks:',
    '  - "true" # 1 s in the trial',
    '# These hosts were refused. To allow those that you trust, remove the # before the lines you need.',
    '# network:',
    '#   setup: [defaults, a.example.org]',
    '#   agent: [a.example.org] # also for checks',
    '',
  ]);
  const base = { setup: setup.slice(0, 3).map(({ command }) => command), checks: ['true'] };
  expect(parse(draft)).toEqual(base);
  const network = { setup: ['defaults', 'a.example.org'], agent: ['a.example.org'] };
  expect(parse(draft.replace(/^# (network| {2}(?:setup|agent))/gm, '$1'))).toEqual({ ...base, network });
});

test('while a program is missing, set-up stays detected, so that the next trial misses the program too', async () => {
  const found = { setup: [tried('npm ci')], tried: [tried('npm test')], missing: [go] };
  const draft = (await draftOf('', found)) ?? '';
  expect(draft.split('\n')).toEqual([
    'checks:',
    '  - npm test # 1 s in the trial',
    '# image: "docker.io/library/golang:1" # an image for go, which is not installed',
    '# Set-up stays detected while this is not installed: go. It would be:',
    '# setup:',
    '#   - npm ci',
    '#   - go mod download # where go is installed',
    '',
  ]);
  expect((await parseSettings(Buffer.from(draft))).setup).toEqual([]);
  expect((await parseSettings(Buffer.from(uncommented(draft)))).setup).toEqual(['npm ci', 'go mod download']);
  expect(parse((await draftOf('', { setup: [tried('npm ci', 1)] })) ?? '')).toBeNull();
});

test('services and variables are comments, which are settings without the #', async () => {
  const draft = (await draftOf('', { needed })) ?? '';
  expect(parse(draft)).toBeNull();
  expect(await parseSettings(Buffer.from(uncommented(draft)))).toEqual({
    ...noSettings,
    services: [redis],
    env: needed.env,
  });
  const hint = await draftOf('', { needed: { ...needed, services: [], env: {} } });
  expect(hint).toMatch(
    /^# Commands did not find the host "db"\. .* listen on localhost.*\n# env: \{ DB_HOST: localhost \}\n$/,
  );
});

const all = {
  setup: [tried('npm ci')],
  tried: [tried('npm test')],
  checkout: ['submodules', 'lfs'] as TriedOut['checkout'],
};
const lfsToo = { submodules: true, lfs: true };

test.each([
  [
    'comments and other keys',
    '# ours\nenv: { MODE: test }  # of tests\n\nnetwork:\n    setup: [ defaults ]\nimage: a\n',
    {},
  ],
  ['no line end', 'secrets: [NPM_TOKEN]', {}],
  ['no set-up', 'setup: []\nservices: redis-server\n', { setup: [] }],
  ['a set-up of its own', 'setup: make deps\n', {}],
  ['a comment only', '# nothing yet\n', {}],
  ['null', '---\n~\n', {}],
  ['one line', '{ env: { A: "1" }, push: approved }', {}],
  ['an empty list of checks', 'checks: [] # later\nenv: { A: "1" }\n', {}],
  ['a key without a value', 'checks:\nproof: required\n', {}],
  ['a choice of folders', 'checkout: { paths: [app] } # large\nprotected: [x]\n', {}],
  ['LFS already', 'checkout:\n  lfs: true\n', {}],
  ['the end of the document', 'push: approved\n...\n', {}],
  ['the end of the document, and a comment', 'image: x\n... # end\n\n', {}],
  ['indentation', '  env: { A: "1" }\n', {}],
  ['indented empty lists', ' checks: []\n setup: [] # none\n', {}],
  ['Windows line ends', '# ours\r\nenv: { A: "1" }\r\nchecks: []\r\n', {}],
  ['two empty lists', 'checks: [] # none\nimage: x\nsetup: []\n', {}],
  ['anchors', 'env: &e { A: "1" }\nimage: x\n', {}],
])('the draft for a file with %s keeps what the file says, and adds what was found', async (_what, file, found) => {
  const before = await parseSettings(Buffer.from(file));
  const draft = (await draftOf(file, { ...all, ...found })) ?? '';
  expect(await parseSettings(Buffer.from(draft))).toEqual({
    ...before,
    setup: before.setup.length > 0 ? before.setup : ['npm ci'],
    checks: ['npm test'],
    checkout: { ...before.checkout, ...lfsToo },
  });
  for (const comment of file.match(/#.*/g) ?? []) expect(draft).toContain(comment);
});

test('an empty list gets the remarks of what was found, and the rest of the file stays as it is', async () => {
  const found = { setup: [tried('npm ci'), tried('slow', null)], tried: [tried('npm test')] };
  expect(await draftOf('checks: [] # none yet\n\nimage:   x # ours\nsetup: # none yet\n', found)).toBe(
    'checks:\n  - npm test # 1 s in the trial # none yet\n\nimage:   x # ours\nsetup:\n  - npm ci\n#   - slow # was stopped in the trial # none yet\n',
  );
});

test('line ends stay those of Windows, also in a draft that was committed', async () => {
  const draft = (await draftOf('image: x\r\n', { ...all, needed })) ?? '';
  expect(draft.split('\n').every((line) => line === '' || line.endsWith('\r'))).toBe(true);
  expect(await draftOf(draft, { ...all, tried: [], needed })).toBeNull();
});

test('what is added has no invisible characters, however the file is laid out', async () => {
  for (const file of ['', '{ push: approved }', 'setup:\n', ' push: approved\n']) {
    const draft = (await draftOf(file, { setup: [tried('cd \u202Ex')] })) ?? '';
    expect(draft).toContain('cd \\u202Ex');
    expect((await parseSettings(Buffer.from(draft))).setup).toEqual(['cd \u202Ex']);
  }
});

test('a key that is there without a value is not drafted a second time', async () => {
  const file = 'services: []\nenv: {}\nnetwork: {}\nsetup:\n';
  const found = { needed, refusedHosts: ['a.example.org'], setup: [tried('npm ci', 1)] };
  const draft = (await draftOf(file, found)) ?? '';
  expect(draft.split('\n').filter((line) => /^# (?:services|env|network|setup):$/.test(line))).toEqual([]);
  for (const key of ['services', 'env', 'setup']) expect(draft).toContain(`# To be added to ${key}:\n`);
  const hint = await draftOf('env: {}\n', { needed: { ...needed, services: [], env: {} } });
  expect(hint).toMatch(/such as\n# {3}DB_HOST: localhost\n$/);
});

test('what another key refers to is not replaced', async () => {
  const file = 'checks: &none []\ncache: *none\n';
  expect(await draftOf(file, { tried: [tried('npm test')] })).toBe(
    `${file}# checks:\n#   - npm test # 1 s in the trial\n`,
  );
});

test('comments come before the end of the document, so that they can become settings', async () => {
  const draft = (await draftOf('image: x\n...\n', { needed })) ?? '';
  expect(await parseSettings(Buffer.from(uncommented(draft)))).toMatchObject({ image: 'x', services: [redis] });
});

test('a file to which only new keys are added stays exactly as it is, and a committed draft adds nothing more', async () => {
  const file = 'env:   {MODE: "test"}\n# end\n';
  const found = { ...all, needed, refusedHosts: ['a.example.org'] };
  const draft = (await draftOf(file, found)) ?? '';
  expect(draft.startsWith(file)).toBe(true);
  expect(draft).toContain('# To be added to env:\n#   DB_URL: "postgres://localhost/x"\n# Commands could not');
  expect(await draftOf(draft, { ...found, tried: [] })).toBeNull();
  expect(await draftOf(file, {})).toBeNull();
});

test('what the file has already is not proposed again', async () => {
  const file = 'services: [{ run: x, port: 6379 }]\nnetwork: { setup: [] }\nimage: a\n';
  expect(await draftOf(file, { needed: { ...needed, hosts: [], env: {} } })).toBeNull();
  const draft = await draftOf(file, { missing: [go], refusedHosts: ['a.example.org'] });
  expect(draft).not.toContain('# image:');
  expect(draft).toContain('# Instead of the network above:\n#   setup: [a.example.org]\n');
});
