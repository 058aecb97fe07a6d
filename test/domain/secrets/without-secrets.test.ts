import { cpuUsage } from 'node:process';
import { cleanStream, formsOf, safeLength, withoutSecrets } from '../../../src/domain/secrets.ts';
import { findPatterns, preparePatterns } from '../../../src/domain/text/find-many.ts';

const gone = '[a credential was removed]';

/** Seconds of the processor, which do not depend on what else the machine does. */
function secondsOf(work: () => void): number {
  const before = cpuUsage();
  work();
  const { user, system } = cpuUsage(before);
  return (user + system) / 1e6;
}

test('every form of a secret is removed from every string of a value', () => {
  const secret = 'p@ss/wörd "12"';
  for (const form of formsOf([secret]))
    expect(withoutSecrets({ text: [`before ${form}, after`], n: 1 }, ['another one', secret])).toEqual({
      text: [`before ${gone}, after`],
      n: 1,
    });
});

test('of secrets that contain or overlap each other, nothing is left', () => {
  const secrets = ['abcdefgh', 'abcdefghijkl', 'ghijklmnop'];
  expect(withoutSecrets('xabcdefghijklmnopx', secrets)).toBe(`x${gone}x`);
  expect(withoutSecrets('xabcdefghijklmxabcdefgh', secrets)).toBe(`x${gone}mx${gone}`);
  expect(withoutSecrets('abcdefghabcdefgh', secrets)).toBe(`${gone}${gone}`);
});

test('a secret that is added to the array later is removed, and one that is taken away is not', () => {
  const secrets = ['first-secret'];
  expect(withoutSecrets('first-secret second-secret', secrets)).toBe(`${gone} second-secret`);
  secrets.push('second-secret');
  expect(withoutSecrets('first-secret second-secret', secrets)).toBe(`${gone} ${gone}`);
  secrets.shift();
  expect(withoutSecrets('first-secret second-secret', secrets)).toBe(`first-secret ${gone}`);
});

test('more sets of secrets than are kept do not mix', () => {
  const sets = Array.from({ length: 100 }, (_, i) => [`secret-number-${i}-`]);
  for (const again of [sets, sets.map((each) => [...each])])
    for (const [i, secrets] of again.entries())
      expect(withoutSecrets(`secret-number-${i}- secret-number-${i + 1}-`, secrets)).toBe(
        `${gone} secret-number-${i + 1}-`,
      );
});

test('strings are found exactly where they are, in texts of few letters', () => {
  // A small generator, so that every run tests the same texts.
  let state = 7;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    return (state >>> 8) % below;
  };
  const word = (length: number) => Array.from({ length }, () => 'ab'[next(2)]).join('');
  for (let round = 0; round < 100; round++) {
    const strings = Array.from({ length: 12 }, () => word(8 + next(6)));
    const text = word(400);
    const covered = new Array<boolean>(text.length).fill(false);
    for (const each of strings)
      for (let at = text.indexOf(each); at >= 0; at = text.indexOf(each, at + 1))
        covered.fill(true, at, at + each.length);
    const found = new Array<boolean>(text.length).fill(false);
    for (const [start, end] of findPatterns(text, preparePatterns(strings))) found.fill(true, start, end);
    expect(found).toEqual(covered);
  }
});

test('a set of secrets is prepared once, also when it is read again each time', () => {
  const secrets = Array.from({ length: 8 }, (_, i) => `${i}${'long secret\n'.repeat(2700)}`);
  const seconds = secondsOf(() => {
    for (let i = 0; i < 200; i++) withoutSecrets(`text ${i}`, [...secrets]);
    const stream = cleanStream(() => {}, [...secrets]);
    for (let i = 0; i < 2000; i++) stream.add(`piece ${i} `);
    stream.end();
  });
  expect(seconds).toBeLessThan(5);
});

test('the time is proportional to the text, however alike the text and the secrets are', () => {
  const secrets = Array.from({ length: 80 }, (_, i) => `${'a'.repeat(3000 + i)}b`);
  expect(secondsOf(() => withoutSecrets('a'.repeat(500_000), secrets))).toBeLessThan(5);
  const spaced = Array.from({ length: 8 }, (_, i) => `${'a '.repeat(16_000)}${i}`);
  expect(secondsOf(() => safeLength('a '.repeat(50_000), spaced))).toBeLessThan(2);
});

test('a long text without spaces arrives in small pieces', () => {
  const sent: string[] = [];
  const seconds = secondsOf(() => {
    const stream = cleanStream((text) => sent.push(text), ['hunter2-hunter2']);
    for (let i = 0; i < 50_000; i++) stream.add('abcd');
    stream.end();
  });
  expect(sent.join('')).toHaveLength(200_000);
  expect(seconds).toBeLessThan(2);
});
