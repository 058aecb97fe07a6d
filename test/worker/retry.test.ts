import { GitFailed } from '../../src/git/engine.ts';
import { retryPolicyOf } from '../../src/worker/retry.ts';

const away = (retryAfterMs?: number) =>
  new GitFailed('unreachable', 'git: the host answered with HTTP 503', retryAfterMs);

/** Creates the retry budget of a run, its log, and a step that fails a given number of times. */
function given({ seconds = 300, endsAt = Number.POSITIVE_INFINITY } = {}) {
  const log: string[] = [];
  const stop = new AbortController();
  const retrying = retryPolicyOf({
    journal: { note: async (_type, text) => void log.push(text) },
    signal: stop.signal,
    seconds,
    endsAt: () => endsAt,
  });
  const failing = (error: unknown, times = Number.POSITIVE_INFINITY) => {
    let tries = 0;
    const step = async () => {
      tries += 1;
      if (tries <= times) throw error;
      return tries;
    };
    return { step, tries: () => tries };
  };
  return { retrying, log, stop, failing };
}

test.each([
  ['a refusal by the remote', new GitFailed('rejected', 'git: [rejected]'), {}],
  ['a wrong key', new GitFailed('auth', 'git: HTTP 401'), {}],
  ['an internal error', new TypeError('x'), {}],
  ['an outage when the time for pauses is used up', away(), { seconds: 0 }],
  ['an outage when the time of the run is up', away(), { endsAt: 0 }],
  ['a host that asks for a longer pause than is left', away(301_000), {}],
])('%s fails immediately, without a pause', async (_what, error, about) => {
  const { retrying, log, failing } = given(about);
  const { step, tries } = failing(error);
  await expect(retrying(step)).rejects.toBe(error);
  expect([tries(), log]).toEqual([1, []]);
});

test('a step is retried after an outage, with a line in the log', async () => {
  const { retrying, log, failing } = given();
  const refused = Object.assign(new Error('Bad Gateway'), {
    name: 'HttpError',
    status: 502,
    response: { headers: {} },
  });
  expect(await retrying(failing(refused, 1).step)).toBe(2);
  expect(log).toEqual(['GitHub answered HTTP 502: Bad Gateway; trying again in 1 s']);
});

test('all steps of a run share its time for pauses', async () => {
  const { retrying, log, failing } = given({ seconds: 1.99 });
  await retrying(failing(away(), 1).step);
  await expect(retrying(failing(away()).step)).rejects.toBeInstanceOf(GitFailed);
  expect(log).toHaveLength(1);
});

test('a cancel ends a pause immediately', async () => {
  const { retrying, log, stop, failing } = given();
  const waiting = retrying(failing(away(60_000)).step);
  while (log.length === 0) await new Promise(setImmediate);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});
