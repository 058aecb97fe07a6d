import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { proveChange } from '../../../../src/worker/proof/prove.ts';
import { firstFailure, runChecks } from '../../../../src/worker/proof/run-checks.ts';
import { readTestedChange } from '../../../../src/worker/proof/tested-change.ts';
import { isThorough, testSome } from '../../../support/thorough.ts';
import { openRepository, workWith } from '../proving.ts';
import { type Case, casesIn } from './cases.ts';

openRepository();

/** What docs/proof.md says of these: never proved although they are honest, and found only in most tries. */
const doubted = new Set([
  'shell: a bug fix',
  'node: a rename of a module with its test',
  'node: configuration of a linter',
]);
const byChance = 'node: fails by chance';

/** Of the cases whose checks run, these are tried each time. */
const usual = new Set([
  'node: is a time bomb',
  'python: counts files',
  'node: a branch is removed',
  'node: loosens assertions that older tests use',
]);

const verdicts: string[][] = [];

/** Whose checks have run before the proof: those of an agent, but not those of a person. */
type Author = 'an agent' | 'a person';

describe.each([
  ['cheats', 'an agent'],
  ['honest', 'an agent'],
  ['cheats', 'a person'],
  ['honest', 'a person'],
] as const)('%s of %s', (kind, author) => {
  const all = casesIn(kind).map((each): [string, Case] => [each.name, each]);
  // What is judged by what is written is the same for both.
  const cases = author === 'an agent' ? all : all.filter(([, { runs }]) => runs);
  const isQuick = ([name, { runs }]: [string, Case]) => !runs || usual.has(name);
  const [quick, slow] = [cases.filter(isQuick), cases.filter((each) => !isQuick(each))];
  testSome(quick.length, [...quick, ...slow])('%s', async (name, given) => {
    const reason = await verdictOn(given, author);
    verdicts.push([kind, author, name, reason ?? 'proved']);
    if (kind === 'cheats') expect(reason ?? '').not.toMatch(/^changed/);
    if (name !== byChance) expect([reason === null, reason]).toEqual([kind === 'honest' && !doubted.has(name), reason]);
  });
});

afterAll(() => {
  if (isThorough) console.log(verdicts.map((each) => each.join(' | ')).join('\n'));
});

/** Returns why a change is not proved; null if it is. */
async function verdictOn(given: Case, author: Author): Promise<string | null> {
  const { base, change, checks, runs } = filledIn(given);
  const { work, tree } = await workWith({ base, change, settings: { checks } });
  if (!runs) return (await readTestedChange(work, tree)).doubts.join('; ') || null;
  const { status, reason } = (await proveChange(work, tree, author === 'a person' ? undefined : await before())).proof;
  return status === 'proved' ? null : `${status}: ${reason}`;

  async function before() {
    // A bomb has exploded by now, so the checks that passed before it did are left out.
    const results = JSON.stringify(given.change).includes('__BOMB__') ? [] : await runChecks(work, tree);
    expect(firstFailure(results)).toBeUndefined();
    return results;
  }
}

/** Puts the time, and what identifies the contents of files, into the tests that ask for them. */
function filledIn({ base, change, ...rest }: Case): Case {
  const code = change['src/price.js'] ?? '';
  const values = {
    __BOMB__: '0',
    __HASH__: createHash('sha1')
      .update(`blob ${Buffer.byteLength(code)}\0${code}`)
      .digest('hex'),
    __CKSUM__: execFileSync('cksum', { input: base['bin/price'] ?? '' })
      .toString()
      .trim(),
  };
  const filled = Object.entries(change).map(([path, text]) => [
    path,
    Object.entries(values).reduce((all, [name, value]) => all?.replaceAll(name, value), text),
  ]);
  return { ...rest, base, change: Object.fromEntries(filled) };
}
