import { createHash } from 'node:crypto';
import { isHardToGuess } from '../../../src/domain/text/hard-to-guess.ts';

/** Keys that look random and are the same in each run of the tests. */
const keys = (encoding: 'hex' | 'base64url', length: number) =>
  Array.from({ length: 1000 }, (_, i) => createHash('sha512').update(`key ${i}`).digest(encoding).slice(0, length));

test.each([
  ['hex', 32],
  ['hex', 64],
  ['base64url', 32],
  ['base64url', 40],
] as const)('keys in %s of %d characters are hard to guess', (encoding, length) => {
  const hard = keys(encoding, length).filter(isHardToGuess);
  expect(hard.length).toBeGreaterThan(900);
});

test.each([
  'sunshine1987',
  'correct-horse-battery-staple-and-more',
  'CorrectHorseBatteryStapleAndManyMore2024',
  'Summer2024Winter2025Spring2026Autumn2027',
  'the-database-password-of-production-2024-01-31',
  '123456789012345678901234567890',
  'aB3$aB3$',
  '',
])('%p can be guessed', (secret) => expect(isHardToGuess(secret)).toBe(false));
