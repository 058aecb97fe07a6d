import { execFileSync } from 'node:child_process';

test('an error of GitHub or the model in the log tells no token', () => {
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL('../src/compose.ts', import.meta.url).href)});
    const { readConfig } = await import(${JSON.stringify(new URL('../src/config.ts', import.meta.url).href)});
    const log = createLogger(readConfig({}));
    const request = { url: 'https://api', headers: { authorization: 'token ghs_canary' } };
    const err = Object.assign(new Error('gone'), { status: 500, request, response: { headers: { 'set-cookie': 'canary' } } });
    log.error({ err, token: 'canary', request, headers: { authorization: 'canary' } }, 'failed');
    log.child({ name: 'probot' }).error(err, 'failed');
    log.warn({ err: new AggregateError([err], 'several') }, 'failed');
    log.warn({ err: new Error('outer', { cause: err }) }, 'failed');
  `;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env: {} });
  expect(out.trim().split('\n')).toHaveLength(4);
  expect(out).toContain('gone');
  expect(out).not.toContain('canary');
});
