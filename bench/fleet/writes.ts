import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../demo/real-service.ts';

const everyMs = 100;
/** A request that takes longer counts as refused. */
const patienceMs = 5000;

/** Asks for a small write ten times a second, as a person who tries again, and notes for how long none succeeds. */
export function startWriting(url: string, token: string, path: string) {
  const ending = new AbortController();
  const since = { refusedMs: 0, longestMs: 0 };
  const statuses = new Map<string, number>();
  let goodAt = performance.now();
  let isGood = true;
  const write = () =>
    fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'A write of the probe' }),
      signal: AbortSignal.timeout(patienceMs),
    }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return String(answer.status);
      },
      () => 'no answer',
    );
  const note = (status: string) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const wasGood = isGood;
    isGood = status === '201';
    if (!isGood) return;
    // The time between two writes that succeed is not a refusal.
    const gap = wasGood ? 0 : performance.now() - goodAt;
    since.refusedMs += gap;
    since.longestMs = Math.max(since.longestMs, gap);
    goodAt = performance.now();
  };
  const all = (async () => {
    while (!ending.signal.aborted) {
      note(await write());
      await sleep(everyMs);
    }
  })();
  return {
    /**
     * Waits until a write succeeds. Returns for how many milliseconds writes were refused since the previous call, together and
     * at most at a time.
     */
    read: async () => {
      await until('a write that succeeds', async () => isGood);
      const read = { ...since };
      Object.assign(since, { refusedMs: 0, longestMs: 0 });
      return read;
    },
    statuses,
    stop: async () => {
      ending.abort();
      await all;
    },
  };
}
