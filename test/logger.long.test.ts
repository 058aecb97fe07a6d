import { execFileSync } from 'node:child_process';
import { createLogger, logFailure } from '../src/logger.ts';
import { noTraces, type Span, within } from '../src/tracing/traced.ts';

/**
 * Returns what a logger prints for errors with tokens in every place where GitHub's and the model's errors contain
 * them.
 */
function logged(isTerminal: boolean): string {
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL('../src/logger.ts', import.meta.url).href)});
    const log = createLogger({ LOG_LEVEL: 'info' }, ${isTerminal});
    const request = { url: 'https://api', headers: { authorization: 'token ghs_canary' } };
    const err = Object.assign(new Error('gone'), { status: 500, request, response: { headers: { 'set-cookie': 'canary' } } });
    log.error({ err, token: 'canary', request, headers: { authorization: 'canary' } }, 'failed');
    log.child({ name: 'probot' }).error(err, 'failed');
    log.warn({ err: new AggregateError([err], 'several') }, 'failed');
    log.warn({ err: new Error('outer', { cause: err }) }, 'failed');
    const failure = { category: 'setup', message: 'failed', output: 'The file is canary' };
    log.warn({ err: Object.assign(new Error('set-up failed'), { failure }) }, 'failed');
  `;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env: {} });
}

test.each([true, false])('an error of GitHub or the model in the log tells no token (terminal: %s)', (isTerminal) => {
  const out = logged(isTerminal);
  expect(out).toContain('gone');
  expect(out).not.toContain('canary');
});

test('the log is JSON, or readable lines on a terminal', () => {
  for (const line of logged(false).trim().split('\n')) expect(JSON.parse(line).msg).toEqual(expect.any(String));
  expect(logged(true)).toMatch(/^\S*\[\d\d:\d\d:\d\d\]\S* \S*ERROR\S*: \S*failed/);
});

test('while the database is away, one error is logged, and each change of its state', () => {
  const lines: string[] = [];
  const log = createLogger({ LOG_LEVEL: 'info' }, false, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  for (const part of ['turns failed', 'queue failed', 'scheduled work failed']) log.error({ err: away }, part);
  log.child({ runId: 'run_1' }).warn({ err: away }, 'lease not renewed');
  log.error({ err: away, databaseState: 'database away' }, 'database away');
  log.error({ err: new TypeError('x') }, 'another error');
  log.info('listening');
  log.info({ databaseState: 'ok' }, 'the database is available again');
  log.error({ err: away }, 'turns failed');
  expect(lines).toEqual([
    ...['turns failed', 'database away', 'another error', 'listening'],
    ...['the database is available again', 'turns failed'],
  ]);
});

test('while GitHub cannot be reached, one error is logged, but each of its answers', () => {
  const lines: string[] = [];
  const log = createLogger({ LOG_LEVEL: 'info' }, false, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const failed = (host: string, more: object = {}) =>
    Object.assign(
      new Error('fetch failed'),
      { name: 'HttpError', status: 500, request: { url: `https://${host}/x` } },
      more,
    );
  for (const part of ['job mirror failed', 'a task could not be compared'])
    log.warn({ err: failed('api.github.com') }, part);
  log.warn({ err: failed('ghe.acme.com') }, 'another host');
  const response = { headers: {} };
  for (const n of [1, 2]) log.warn({ err: failed('api.github.com', { response }) }, `answer ${n}`);
  log.warn({ err: failed('api.github.com') }, 'still away');
  log.fatal({ err: failed('api.github.com') }, 'the process ends');
  expect(lines).toEqual(['job mirror failed', 'another host', 'answer 1', 'answer 2', 'the process ends']);
});

test('the line of a failed job has the ids of its work, which is over, and names GitHub', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({ LOG_LEVEL: 'info' }, false, { write: (line) => void lines.push(JSON.parse(line)) });
  const fail = (error: Error) => async () => {
    throw error;
  };
  const github = (more: object) => Object.assign(new Error('no'), { name: 'HttpError', status: 500 }, more);
  const inJob = { name: 'job mirror', kind: 'consumer', ids: { taskId: 'task_1' } } as const;
  const outer = noTraces.begin(inJob, fail(github({ request: { url: 'https://gh.example/x' } })));
  await outer.catch((error) => logFailure(log, error, 'job mirror'));
  const span = { traceId: 'abc', end: () => {} } as unknown as Span;
  const inner = within(undefined, { taskId: 'task_2' }, () =>
    within(span, { runId: 'run_2' }, fail(github({ status: 502, response: {} }))),
  );
  await inner.catch((error) => logFailure(log, error, 'job diff'));
  logFailure(log, new TypeError('x'), 'queue');
  expect(lines).toEqual([
    expect.objectContaining({ taskId: 'task_1', msg: 'job mirror failed: GitHub cannot be reached at gh.example' }),
    expect.objectContaining({
      ...{ taskId: 'task_2', runId: 'run_2', traceId: 'abc' },
      msg: 'job diff failed: GitHub answered HTTP 502',
    }),
    expect.objectContaining({ msg: 'queue failed' }),
  ]);
});
