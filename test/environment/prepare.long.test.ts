import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { addRefused, refusedText } from '../../src/environment/command-access.ts';
import { prepareEnvironment } from '../../src/environment/prepare.ts';
import { gitOut, gitWith } from '../support/git.ts';
import { untilNoneHas } from '../support/machine/processes.ts';
import { failsWith, openStage, type Scene, type Stage } from './stage.ts';

let stage: Stage;
let scene: Scene;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  scene = await stage.begin();
});
afterEach(() => scene.end());

const text = (path: string) => readFileSync(path, 'utf8');

const setup = [
  'mkdir deps && date +%N > deps/made && cp README.md deps/copy && ln -s made deps/link && chmod 4600 deps/copy',
  'echo cached > ~/.cache-of-tool; echo out > not-ignored; echo changed > README.md; pwd; echo "mode $MODE"',
];

test('set-up runs once, from the files of the commit; what git ignores and the home folder are kept and restored', async () => {
  writeFileSync(join(scene.checkout.workTree, 'README.md'), 'what an agent wrote');
  const settings = { setup, env: { MODE: 'quiet' } };
  const first = await scene.prepare(settings);
  expect([first.how, first.commands.map(({ exitCode }) => exitCode)]).toEqual(['set up', [0, 0]]);
  expect(scene.log).toEqual([
    `setup: $ ${setup[0]}`,
    expect.stringMatching(/: exit code 0, \d+ s$/),
    `setup: $ ${setup[1]}`,
    'setup: /work\nmode quiet',
    expect.stringMatching(/: exit code 0, \d+ s$/),
  ]);
  const one = await scene.placed(first);
  expect(readdirSync(one)).toEqual(['deps']);
  expect(text(join(one, 'deps/copy'))).toBe(text(join(stage.host.work, 'README.md')));
  expect(text(`${one}.home/.cache-of-tool`)).toBe('cached\n');
  // This run gets what later runs get, so the setuid bit is gone.
  expect(statSync(join(one, 'deps/copy')).mode & 0o7777).toBe(0o600);
  if (process.getuid?.() === 0) expect(statSync(join(one, 'deps/copy')).uid).toBeGreaterThan(1000);
  scene.log.length = 0;
  const second = await scene.prepare(settings);
  expect([second.how, second.commands]).toEqual(['restored', []]);
  expect(scene.log).toEqual([expect.stringMatching(/^setup: restored the environment in [\d.]+ s$/)]);
  // The same environment can be placed more than once.
  for (const work of [await scene.placed(second), await scene.placed(second)])
    expect(text(join(work, 'deps/link'))).toBe(text(join(one, 'deps/made')));
  expect((await scene.prepare({ ...settings, env: { MODE: 'loud' } })).how).toBe('set up');
  expect((await scene.prepare(settings, true)).how).toBe('set up');
});

test('a configured set-up that fails ends the run with the end of its output, and nothing is kept', async () => {
  const before = stage.kept();
  const failing = scene.prepare({ setup: ['mkdir deps', 'echo no such package >&2; exit 3', 'touch deps/never'] });
  await expect(failing).rejects.toMatchObject(
    failsWith(/^set-up failed: "echo no such.*" ended with exit code 3\nno such package$/s),
  );
  expect(scene.log).toContain('setup: no such package');
  expect(scene.log.join()).not.toContain('never');
  expect(stage.kept()).toBe(before);
});

test('when a detected set-up fails, the prompt says so, and nothing of it is kept or used', async () => {
  stage.push({ 'package.json': '{"name":"x","version":"1.0.0"}', 'package-lock.json': 'damaged' });
  await scene.fetch();
  const before = stage.kept();
  const environment = await scene.prepare({});
  stage.push({ 'package-lock.json': '{}' });
  expect(environment.how).toBe('failed');
  expect(environment.told).toMatch(/could not be installed.*"npm ci" ended with exit code 1/s);
  expect(readdirSync(join(await scene.placed(environment), '..'))).toEqual([]);
  expect(stage.kept()).toBe(before + 1);
});

test('a detected set-up that failed is not tried again for six hours, except by a trial or after a change', async () => {
  stage.push({ 'package.json': '{"name":"x","version":"1.0.0"}', 'package-lock.json': 'damaged again' });
  await scene.fetch();
  const first = await scene.prepare({});
  scene.log.length = 0;
  const second = await scene.prepare({});
  expect([second.how, second.told, second.commands]).toEqual(['failed', first.told, first.commands]);
  expect(scene.log).toEqual([expect.stringMatching(/^setup: set-up failed 1 min ago, .* is not tried again; /)]);
  scene.log.length = 0;
  expect((await scene.prepare({}, true)).how).toBe('failed');
  expect(scene.log).toContain('setup: $ npm ci');
  scene.log.length = 0;
  for (const name of readdirSync(stage.app.keptDir).filter((each) => each.endsWith('.failed')))
    utimesSync(join(stage.app.keptDir, name), new Date(), new Date(Date.now() - 7 * 3_600_000));
  expect((await scene.prepare({})).how).toBe('failed');
  expect(scene.log).toContain('setup: $ npm ci');
  stage.push({ 'package-lock.json': '{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{}}' });
  await scene.fetch();
  expect((await scene.prepare({})).how).toBe('set up');
  stage.push({ 'package.json': '{}', 'package-lock.json': '{}' });
});

test('a program that is not installed is named, the rest is set up, and nothing is kept', async () => {
  const lock = '{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{}}';
  stage.push({ 'package.json': '{"name":"x","version":"1.0.0"}', 'package-lock.json': lock, 'mix.exs': '' });
  await scene.fetch();
  const before = stage.kept();
  for (const _ of [1, 2]) {
    const environment = await scene.prepare({});
    expect([environment.how, environment.missing.map(({ program }) => program)]).toEqual(['set up', ['mix']]);
    expect(environment.told).toMatch(
      /^These programs are not installed here, so their packages are missing:\n- mix \(mix /,
    );
    expect(scene.log).toContainEqual(
      expect.stringMatching(/^setup: mix is not installed here, so this did not run: mix/),
    );
  }
  expect(stage.kept()).toBe(before);
  expect((await scene.prepare({ setup: 'none' })).how).toBe('none');
  gitOut(stage.host.work, 'rm', '-q', 'mix.exs');
  stage.push({ 'package.json': '{}', 'package-lock.json': '{}' });
});

describe('secrets', () => {
  const value = 'npm_canary-of-the-set-up 0123456789';
  beforeEach(() => scene.setSecret('NPM_TOKEN', value));
  const named = { secrets: ['NPM_TOKEN'] };

  test('reach set-up only, and are removed from its output', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell must not replace it either
    const use = 'test -n "$NPM_TOKEN" && echo "$NPM_TOKEN" && mkdir deps && echo \'token=${NPM_TOKEN}\' > ~/.npmrc';
    const environment = await scene.prepare({ ...named, setup: [use] });
    expect(environment.commands[0]?.output).toContain('[a credential was removed]');
    expect(JSON.stringify([scene.log, environment.commands])).not.toContain('canary');
    const fresh = await scene.fresh(environment);
    const { output } = await fresh.machine.run('env; cat ~/.npmrc; ls -d deps', { seconds: 200 });
    expect(output).toMatch(/token=\$\{NPM_TOKEN\}\ndeps\n$/);
    expect(output).not.toContain('canary');
    // A new value is another key.
    expect((await scene.prepare({ ...named, setup: [use] })).how).toBe('restored');
    await scene.setSecret('NPM_TOKEN', 'another value');
    expect((await scene.prepare({ ...named, setup: [use] })).how).toBe('set up');
  });

  test.each([
    ['in the home folder', 'echo "//r/:_authToken=$NPM_TOKEN" > ~/.npmrc', '~/.npmrc'],
    ['in base64', 'mkdir deps; printf "u:$NPM_TOKEN" | base64 > deps/auth', 'deps/auth'],
    ['as the name of a file', 'mkdir deps; touch "deps/$NPM_TOKEN"', 'deps/[a credential was removed]'],
  ])('left %s fail the run, and nothing is kept', async (_name, command, file) => {
    const before = stage.kept();
    const failing = scene.prepare({ ...named, setup: [command] });
    // Set-up chose the name of the file, so GitHub does not show it.
    await expect(failing).rejects.toMatchObject({
      failure: {
        ...failsWith(/^set-up left the value of the secret NPM_TOKEN in a file, /).failure,
        output: `The file is ${file}`,
      },
    });
    expect(stage.kept()).toBe(before);
  });

  test('that do not belong to the repository fail the run', async () => {
    await scene.setSecret('OTHER', 'another secret', []);
    const lacking = scene.prepare({ secrets: ['OTHER'], setup: ['true'] });
    await expect(lacking).rejects.toMatchObject(
      failsWith(/names the secret OTHER, which does not belong to this repository; an admin/),
    );
  });
});

describe('package caches', () => {
  const place = '~/.cache/pip';
  const setup = [
    `mkdir -p deps ${place} ~/.npm/_cacache; cat ${place}/count > deps/found || true; echo x >> ${place}/count; touch ~/.npm/_cacache/x`,
  ];
  const found = async (settings: object, from = scene) => {
    const environment = await from.prepare({ setup, ...settings });
    expect(environment.how).toBe('set up');
    const work = await from.placed(environment);
    expect(existsSync(`${work}.home/.cache/pip`)).toBe(false);
    expect(existsSync(`${work}.home/.npm/_cacache/x`)).toBe(true);
    return text(join(work, 'deps/found'));
  };

  test('go to the next set-up of the repository, and not to another project, an agent, or set-up of a change', async () => {
    expect(await found({})).toBe('');
    expect(await found({ env: { MODE: 'other' } })).toBe('x\n');
    expect(await found({ env: { MODE: 'third' } })).toBe('x\nx\n');
    const other = await stage.begin();
    expect(await found({}, other)).toBe('');
    await other.end();
    // The change alters a file that decides about set-up, so set-up runs on it.
    const settings = { setup, network: { setup: [], agent: [] }, setupOfChange: 'closed' as const };
    const environment = await scene.prepare({ ...settings, env: { MODE: 'quiet' } });
    const blob = gitWith(scene.checkout.gitDir, '25\n', 'hash-object', '-w', '--stdin');
    const base = await scene.checkout.treeOf(scene.base);
    const tree = await scene.checkout.replaceFiles(base, [{ path: '.nvmrc', mode: '100644', oid: blob }]);
    const fresh = await scene.fresh(environment, tree);
    const look = await fresh.machine.run('cat deps/found && echo x >> ~/.cache/pip/count', { seconds: 60 });
    expect([look.exitCode, look.output]).toEqual([0, '']);
    // What set-up of the change left is gone.
    expect(await found({ env: { MODE: 'last' } })).toBe('x\nx\nx\nx\n');
  });

  test('with a secret are not kept', async () => {
    await scene.setSecret('NPM_TOKEN', 'canary of the caches');
    const secrets = ['NPM_TOKEN'];
    const leaking = [`${setup[0]}; echo $NPM_TOKEN > ${place}/token`];
    expect(await found({ setup: leaking, secrets })).toBe('');
    expect(scene.log).toContain(
      'setup: the package caches are not kept for the next set-up: they contain the secret NPM_TOKEN',
    );
    expect(await found({ secrets })).toBe('');
  });
});

test('a kept result that was damaged is made again', async () => {
  const settings = { setup: ['mkdir deps && touch deps/x'] };
  const usual = stage.app.workDir;
  await scene.prepare(settings);
  for (const damage of [
    (file: string) => writeFileSync(file, 'x'.repeat(statSync(file).size)),
    (file: string) => truncateSync(file, 10),
    (file: string) => rmSync(file) ?? mkdirSync(join(file, 'folder'), { recursive: true }),
    (file: string) => {
      const facts = file.replace(/tar\.zst$/, 'json');
      const made = 'not an archive';
      writeFileSync(file, made);
      const sha256 = createHash('sha256').update(made).digest('hex');
      writeFileSync(facts, JSON.stringify({ bytes: made.length, sha256, seconds: 1 }));
    },
  ]) {
    const { plan } = await scene.prepare(settings);
    // Another worker, which has not unpacked the result yet.
    stage.app.workDir = mkdtempSync(join(usual, 'worker-'));
    chmodSync(stage.app.workDir, 0o711);
    damage(join(stage.app.keptDir, `${plan.key}.tar.zst`));
    const again = await scene.prepare(settings);
    expect(again.how).toBe('set up');
    expect(readdirSync(join(await scene.placed(again), 'deps'))).toEqual(['x']);
  }
  stage.app.workDir = usual;
});

test('where results cannot be kept, the run continues and the log says why', async () => {
  const { keptDir } = stage.app;
  stage.app.keptDir = join(stage.host.bare, 'HEAD');
  try {
    const environment = await scene.prepare({ setup: ['mkdir deps && touch deps/unkept'] });
    expect(readdirSync(join(await scene.placed(environment), 'deps'))).toEqual(['unkept']);
    expect(scene.log.at(-1)).toMatch(/^setup: the environment could not be kept: /);
  } finally {
    stage.app.keptDir = keptDir;
  }
});

test('two runs with the same key set up once; a run that stops leaves the turn to the other', async () => {
  const settings = { setup: ['mkdir deps && sleep 0.5 && date +%N > deps/once'] };
  const both = await Promise.all([scene.prepare(settings), scene.prepare(settings)]);
  expect(both.map(({ how }) => how).sort()).toEqual(['restored', 'set up']);
  const stop = new AbortController();
  const slow = { setup: ['mkdir deps && test -e /tmp/no-such || sleep 1'] };
  const stopped = prepareEnvironment(scene.context(slow, stop.signal), scene.base);
  const other = scene.prepare(slow);
  stop.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
  expect((await other).how).toBe('set up');
});

test('hosts that are not allowed are refused, in the log and by name, for set-up and for the checks', async () => {
  const ask = (host: string) => `node -e "fetch('https://${host}').catch(({ cause }) => console.log(cause.message))"`;
  const settings = { setup: [`${ask('a.example')}; ${ask('a.example')}`] };
  const environment = await scene.prepare(settings);
  expect(environment.refused).toEqual([{ host: 'a.example', times: 2 }]);
  expect(scene.log).toContain('network: host a.example is not allowed; add it to network.setup in .deckhand.yml');
  const fresh = await scene.fresh(environment);
  await fresh.machine.run(ask('b.example'), { seconds: 200 });
  expect(fresh.refused()).toEqual([{ host: 'b.example', times: 1 }]);
  expect(scene.log).toContain('network: host b.example is not allowed; add it to network.agent in .deckhand.yml');
  expect(refusedText(addRefused(environment.refused, fresh.refused(), fresh.refused()))).toBe(
    'refused: a.example, 2 times; b.example, 2 times',
  );
});

test('daemons of set-up end with it', async () => {
  const mark = `7${process.pid}`;
  await scene.prepare({ setup: [`setsid -f sleep ${mark}; (trap "" TERM; sleep ${mark}) & disown; true`] });
  await untilNoneHas(mark);
});
