import type { Proof } from '../../../src/domain/proof/proof.ts';
import { RunFailed } from '../../../src/domain/run.ts';
import type { RepositorySettings } from '../../../src/repositories/settings/schema.ts';
import { proveChange } from '../../../src/worker/proof/prove.ts';
import { attemptChecks, firstFailure, runChecks } from '../../../src/worker/proof/run-checks.ts';
import { testSome } from '../../support/thorough.ts';
import { corpus } from './corpus.ts';
import { type Given, journalWith, openRepository, proofOf, workWith } from './proving.ts';

openRepository();

describe('a hundred scripted changes, half of them cheating', () => {
  testSome(
    2,
    corpus.map((each) => [each.name, each] as [string, typeof each]),
  )('%s', async (name, { base, change, checks, isHonest }) => {
    const proof = await proofOf({ base, change, settings: { checks } });
    expect([proof.status === 'proved', proof]).toEqual([isHonest, proof]);
    const mayChange = name.endsWith('expectation replaced by what the code prints');
    if (!mayChange) expect(proof.status).not.toBe('changed');
  });
});

const code = (body: string) => `export const f = ${body};\n`;
const test1 = (assertion: string) =>
  `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { f } from "../src/f.js";\ntest('f', () => { assert.${assertion}; });\n`;
const base = {
  'package.json': '{"type":"module"}',
  'src/f.js': code('() => 1'),
  'test/f.test.js': test1('equal(typeof f(), "number")'),
};
const more = { 'src/f.js': code('() => 2'), 'test/g.test.js': test1('equal(f(), 2)') };
const settings = { checks: ['node --test'] };

test('says what the change did to tests, and the output of earlier tests that fail', async () => {
  const change = {
    'src/f.js': code('() => "2"'),
    'test/f.test.js': undefined,
    'test/g.test.js': test1('equal(f(), "2")'),
  };
  const { work, tree } = await workWith({ base, change, settings });
  const { proof, failing } = await proveChange(work, tree, await runChecks(work, tree));
  expect(proof).toEqual({
    status: 'weakened',
    newTestsFailOnBase: true,
    oldTestsPass: false,
    testsChanged: ['test/g.test.js'],
    testsRemoved: ['test/f.test.js'],
    reason: 'the earlier tests fail with this change; test/f.test.js was removed',
  });
  expect(failing?.output).toMatch(/^\[exit code 1\]\n[\s\S]*AssertionError/);
});

describe('expectations that change on purpose', () => {
  const more = `test('keeps', () => { assert.equal(f.length, 0); });\n`;
  const before = { ...base, 'test/f.test.js': test1('equal(f(), 1)') + more };
  const proofWith = (tests: string | undefined, others: Given['change'] = {}) =>
    proofOf({ base: before, change: { 'src/f.js': code('() => 2'), 'test/f.test.js': tests, ...others }, settings });

  test('are no weakened tests, and the earlier tests that fail are named', async () => {
    expect(await proofWith(test1('equal(f(), 2)') + more)).toEqual({
      status: 'changed',
      newTestsFailOnBase: true,
      oldTestsPass: false,
      testsChanged: ['test/f.test.js'],
      testsRemoved: [],
      reason: 'these earlier tests fail with it: f',
    });
  });

  // Each case has all three parts: for a missing one, Jest would pass a callback and wait for it.
  const cheats: [string, string | undefined, Given['change']][] = [
    ['a weaker assertion', test1('ok(f())') + more, {}],
    ['another test that is lost', test1('equal(f(), 2)'), {}],
    ['another test that is skipped', test1('equal(f(), 2)') + more.replace('test(', 'test.skip('), {}],
    ['a test that runs no more', test1('equal(f(), 2)') + more.replace("('keeps', ", "('keeps', { skip: 1 }, "), {}],
    ['a removed file', undefined, { 'test/g.test.js': test1('equal(f(), 2)') }],
  ];
  testSome(3, cheats)('stay weakened with %s', async (_name, tests, others) => {
    expect((await proofWith(tests, others)).status).toBe('weakened');
  });
});

test.each<[string, Partial<Given>, Partial<Proof>]>([
  [
    'test globs without a match',
    { settings: { ...settings, tests: ['spec/**'] } },
    { status: 'no_tests', testsChanged: [] },
  ],
  [
    'test globs that match everything',
    { settings: { ...settings, tests: ['**'] } },
    { status: 'unproved', newTestsFailOnBase: false, oldTestsPass: true, testsChanged: ['src/f.js', 'test/g.test.js'] },
  ],
  [
    'test globs that leave out what lies beside the tests',
    { settings: { ...settings, tests: ['test/*.test.js'] }, change: { ...more, 'test/helper.js': '' } },
    { status: 'unproved', reason: 'test/helper.js decides how the tests run' },
  ],
  ['no checks', { settings: {} }, { status: 'not_run', reason: 'the repository has no checks in .deckhand.yml' }],
  [
    'a snapshot',
    { change: { ...more, 'test/g.test.js.snapshot': 'x' } },
    { status: 'unproved', newTestsFailOnBase: true, reason: 'test/g.test.js.snapshot decides how the tests run' },
  ],
  ['no test file', { change: { 'src/f.js': code('() => 3') } }, { status: 'no_tests', newTestsFailOnBase: null }],
])('%s', async (_name, given, wanted) => {
  expect(await proofOf({ base, change: more, settings, ...given })).toMatchObject(wanted);
});

test('checks that hang or are killed are unknown, and so is a set-up or a service that fails', async () => {
  const attempt = async (some: Partial<RepositorySettings>, seconds = 200) => {
    const { work, tree } = await workWith({ base, change: more, settings: some });
    const { context } = work.environment;
    const { tried } = await attemptChecks(
      {
        ...work,
        environment: { ...work.environment, context: { ...context, settings: { ...context.settings, ...some } } },
      },
      [tree],
      seconds,
    );
    return tried[0];
  };
  const unknown = (why: RegExp) => ({ outcome: 'unfinished', why: expect.stringMatching(why) });
  expect(await attempt({ checks: ['sleep 60'] }, 1)).toEqual(unknown(/^they take longer than 1 s$/));
  expect(await attempt({ checks: ['kill -9 $$'] })).toEqual(unknown(/was killed \(exit code 137\)/));
  const service = { checks: ['true'], services: [{ run: 'echo no; exit 1' }] };
  expect(await attempt(service)).toEqual(unknown(/no/));
  expect(await attempt({ checks: ['true', 'true'] })).toMatchObject({ outcome: 'passed' });
});

test('an approval of set-up counts for the tree whose set-up a person has seen, and for no mixture with the base', async () => {
  const { work, tree } = await workWith({ base, change: { ...more, lock: 'x' }, settings: { checks: ['true'] } });
  const { context, plan } = work.environment;
  const some = { setup: ['true'], setupOfChange: 'approved' as const, cache: ['lock'], checks: ['true'] };
  const environment = {
    ...work.environment,
    plan: { ...plan, isDetected: false, commands: [{ command: 'true' }] },
    context: { ...context, settings: { ...context.settings, ...some } },
  };
  const mixed = await work.checkout.replaceFiles(tree, [{ path: 'src/f.js', mode: '000000', oid: '0'.repeat(40) }]);
  const given = { ...work, environment, treeWithApprovedSetup: tree };
  const { tried } = await attemptChecks(given, [mixed, tree], 200);
  const why = expect.stringContaining('needs the approval of a person');
  expect(tried).toMatchObject([{ outcome: 'unfinished', why }, { outcome: 'passed' }]);
  expect(firstFailure(await runChecks(given, tree))).toBeUndefined();
  await expect(runChecks(given, mixed)).rejects.toThrow('needs the approval of a person');
});

test('the results of a worker that ends halfway are kept, and nothing runs twice', async () => {
  const steps = new Map<string, unknown>();
  let deaths = 0;
  const dies = () => steps.size === 1 && deaths++ === 0;
  const { work, tree } = await workWith({ base, change: more, settings, journal: journalWith(steps, dies) });
  const checks = await runChecks(work, tree);
  await expect(proveChange(work, tree, checks)).rejects.toThrow('killed');
  const recorded = [...steps.keys()];
  expect(recorded).toHaveLength(1);
  expect((await proveChange(work, tree, checks)).proof.status).toBe('proved');
  expect([...steps.keys()].slice(0, 1)).toEqual(recorded);
  expect(steps.size).toBe(2);
  // With every step recorded, nothing is left to run.
  expect((await proveChange(work, tree, checks)).proof.status).toBe('proved');
  expect(steps.size).toBe(2);
});

describe('without results of earlier checks, as for a pull request of a person,', () => {
  async function provedAtOnce(given: Partial<Given>) {
    const steps = new Map<string, unknown>();
    const said: string[] = [];
    const note = async (_type: string, text: string) => void said.push(text);
    const journal = { ...journalWith(steps), note };
    const { work, tree } = await workWith({ base, change: more, settings, ...given, journal });
    const { proof } = await proveChange(work, tree);
    return { proof, said, tries: [...steps.keys()].filter((step) => step.startsWith('proof ')).length };
  }

  test('the tries on the base, on the change and with the earlier tests are enough', async () => {
    const { proof, tries, said } = await provedAtOnce({});
    expect(proof).toMatchObject({ status: 'proved', newTestsFailOnBase: true, oldTestsPass: true });
    // One step holds the first two.
    expect(tries).toBe(2);
    // The page of the repository lists slow checks by these lines.
    expect(said).toContain('node --test: passed');
  });

  test('a check that fails twice is named, and nothing is proved', async () => {
    const { proof } = await provedAtOnce({ change: { ...more, 'src/f.js': code('() => 3') } });
    expect(proof).toMatchObject({ status: 'not_run', reason: `the check "${settings.checks?.[0]}" fails` });
  });

  test('tests alone prove nothing, but they have to pass', async () => {
    const passing = { 'test/g.test.js': test1('equal(f(), 1)') };
    const failing = { 'test/g.test.js': test1('equal(f(), 2)') };
    expect((await provedAtOnce({ change: passing })).proof).toMatchObject({ status: 'unproved', oldTestsPass: true });
    expect((await provedAtOnce({ change: failing })).proof.status).toBe('not_run');
  });
});

describe('where the earlier tests fail,', () => {
  const before = { ...base, 'test/f.test.js': test1('equal(f(), 1)') };

  /** Proves the change with these tests. Returns the proof, and the numbers of the tries that ran. */
  async function triesWith(tests: string) {
    const steps = new Map<string, unknown>();
    const change = { 'src/f.js': code('() => 2'), 'test/f.test.js': tests };
    const { work, tree } = await workWith({ base: before, change, settings, journal: journalWith(steps) });
    const { proof } = await proveChange(work, tree, await runChecks(work, tree));
    return { proof, tries: [...steps.keys()].flatMap((step) => / \d(?= |$)/.exec(step)?.[0].trim() ?? []) };
  }

  test('they are tried again, but not the tests that pass without the change', async () => {
    const { proof, tries } = await triesWith(test1('ok(f)'));
    expect(proof).toMatchObject({ status: 'weakened', newTestsFailOnBase: false, oldTestsPass: false });
    expect(tries).toEqual(['1', '1', '2']);
  });

  test('they are not tried again if the change only alters what they expect', async () => {
    const { proof, tries } = await triesWith(test1('equal(f(), 2)'));
    expect(proof).toMatchObject({ status: 'changed', newTestsFailOnBase: true, oldTestsPass: false });
    expect(tries).toEqual(['1', '1']);
  });
});

test('when the time of the run is up, the proof names that reason and the run continues; a lost run does not', async () => {
  const { work, tree } = await workWith({ base, change: more, settings });
  const checks = await runChecks(work, tree);
  const over = AbortSignal.abort(new RunFailed('timeout', 'the run took longer than its 9 minutes'));
  const late = {
    ...work,
    environment: { ...work.environment, context: { ...work.environment.context, signal: over } },
  };
  const { proof } = await proveChange(late, tree, checks);
  expect(proof).toMatchObject({ status: 'not_run', reason: expect.stringContaining('longer than its 9 minutes') });
  const other = { ...late, journal: journalWith(new Map()) };
  const lost = { ...other, signal: AbortSignal.abort(new Error('lost')) };
  await expect(proveChange(lost, tree, checks)).rejects.toThrow();
});
