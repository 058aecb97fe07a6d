import { setTimeout as sleep } from 'node:timers/promises';

const everyMs = 100;
/** A request that takes longer counts as refused. */
const patienceMs = 5000;

/** Asks for a small write ten times a second, as a person who tries again, and notes for how long none succeeds. */
export function startWriting(url: string, token: string, path: string) {
  const ending = new AbortController();
  let refusedMs = 0;
  let longestMs = 0;
  let lastGood = performance.now();
  const statuses = new Map<string, number>();
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
  const all = (async () => {
    let wasGood = true;
    while (!ending.signal.aborted) {
      const status = await write();
      const now = performance.now();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const isGood = status === '201';
      if (isGood) {
        // The time between two writes that succeed is not a refusal.
        const gap = wasGood ? 0 : now - lastGood;
        refusedMs += gap;
        longestMs = Math.max(longestMs, gap);
        lastGood = now;
      }
      wasGood = isGood;
      await sleep(everyMs);
    }
  })();
  return {
    /** Returns for how many milliseconds writes were refused since the previous call, together and at most at a time. */
    read: () => {
      const read = { refusedMs, longestMs };
      refusedMs = longestMs = 0;
      return read;
    },
    statuses,
    stop: async () => {
      ending.abort();
      await all;
    },
  };
}
