import { growingPauseMs, modelPause, retryAfterMs } from '../../src/domain/waiting.ts';

const now = Date.parse('2026-01-01T12:00:00Z');

test.each<[string | null | undefined, number | undefined]>([
  ['3', 3000],
  [' 1.5 ', 1500],
  ['0', 0],
  ['Thu, 01 Jan 2026 12:00:02 GMT', 2000],
  ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
  ['soon', undefined],
  [' ', undefined],
  [null, undefined],
  [undefined, undefined],
])('Retry-After: %s asks for a pause of %s ms', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

test('pauses double up to the longest', () => {
  expect([0, 1, 2, 3, 9999].map((tries) => growingPauseMs(tries, 1000, 6000))).toEqual([1000, 2000, 4000, 6000, 6000]);
});

test.each<[string, Parameters<typeof modelPause>, number | undefined]>([
  ['its own pause when the server names none', [{ count: 0, totalSeconds: 0 }, undefined], 5],
  ['a longer one after each pause', [{ count: 2, totalSeconds: 15 }, undefined], 20],
  ['at most ten minutes', [{ count: 20, totalSeconds: 0 }, undefined], 600],
  ['as long as the server says', [{ count: 0, totalSeconds: 0 }, 42_000], 42],
  ['at least a second', [{ count: 0, totalSeconds: 0 }, 10], 1],
  ['longer when short pauses do not help', [{ count: 3, totalSeconds: 7 }, 10], 8],
  ['at most a minute when the server asks for less', [{ count: 20, totalSeconds: 0 }, 10], 60],
  ['up to an hour in total', [{ count: 1, totalSeconds: 3000 }, 600_000], 600],
  ['no longer than an hour in total', [{ count: 1, totalSeconds: 3001 }, 600_000], undefined],
])('a run waits for its model: %s', (_what, given, seconds) => {
  expect(modelPause(...given)).toBe(seconds);
});
