import { openTestApp, type TestApp } from '../../support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp({ RATE_LIMIT_REQUESTS: '60' });
});
afterAll(() => service.close());

test('a read that counts several times as a request of its own counts as often in a batch', async () => {
  const token = await service.token('octocat');
  const project = (await service.call('POST', '/projects', { token, body: { name: 'P' } })).body.id;
  // It computes up to 2,000 times, so it counts five times: 60 requests a minute are twelve of these.
  const trial = `/projects/${project}/automations/trial?cron=${encodeURIComponent('* * * * *')}&timezone=UTC`;
  expect((await service.call('GET', trial, { token })).status).toBe(200);
  const get = Array(20)
    .fill(`get=${encodeURIComponent(trial)}`)
    .join('&');
  const { status, body } = await service.call('GET', `/batch?${get}`, { token });
  const done = status === 200 ? body.filter((reply: { status: number }) => reply.status === 200).length : 0;
  expect(done).toBeLessThanOrEqual(11);
});
