import { sendWebhook, wakeWebhooks } from '../../src/notices/webhooks/deliver.ts';
import { claimDelivery, deleteOldWebhookDeliveries } from '../../src/notices/webhooks/store.ts';
import { openTestApp } from '../support/app.ts';
import { startReceiver } from '../support/stand-ins/webhook-receiver.ts';

const service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
const receiver = await startReceiver();
afterAll(async () => {
  await service.close();
  await receiver.close();
});
const { app } = service;
const token = await service.token('octocat');
const call = (method: string, path: string, body?: unknown, as = token) =>
  service.call(method, path, { token: as, body });
const sql = (text: string, values: unknown[] = []) => app.db.manager.query(text, values);

const all = ['task.status', 'task.attention', 'run.ended', 'sprint.status', 'proof', 'budget'];
const accept = receiver.answer;
let projectId: string;
let path: string;

beforeEach(async () => {
  projectId = (await call('POST', '/projects', { name: 'P' })).body.id;
  path = `/projects/${projectId}/webhooks`;
  receiver.received = [];
  receiver.attempts = [];
  receiver.answer = accept;
  receiver.secret = undefined;
});

async function hook(more: object = {}): Promise<string> {
  const { status, body } = await call('POST', path, { url: receiver.url, events: all, ...more });
  expect([status, body.secret]).toEqual([201, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
  receiver.secret = body.secret;
  return body.id;
}

const newTask = async (title = 'Greet'): Promise<string> =>
  (await call('POST', `/projects/${projectId}/tasks`, { title })).body.id;
const moveTo = (task: string, status: string) =>
  sql('update tasks set status = $2, status_since = clock_timestamp() where id = $1', [task, status]);
const send = (webhookId: string) => sendWebhook(app, { webhookId, projectId });
const deliveries = async (webhookId: string) => (await call('GET', `${path}/${webhookId}/deliveries`)).body;
/** Lets time pass for all deliveries and webhooks. */
async function pass(interval: string) {
  await sql(
    `update webhook_deliveries set not_before = not_before - $1::interval,
    first_attempt_at = first_attempt_at - $1::interval, leased_until = leased_until - $1::interval`,
    [interval],
  );
  await sql('update webhooks set rest_until = rest_until - $1::interval', [interval]);
}
const refuse = (status: number, headers: Record<string, string> = {}) => {
  receiver.answer = (response) => void response.writeHead(status, headers).end('no');
};

test('a delivery is signed, and says what happened', async () => {
  const id = await hook();
  const task = await newTask();
  await moveTo(task, 'in_review');
  await send(id);
  expect(receiver.received.map(({ payload }) => payload)).toEqual([
    {
      type: 'task.status',
      timestamp: expect.any(String),
      data: expect.objectContaining({
        taskId: task,
        projectId,
        title: 'Greet',
        status: 'backlog',
        previousStatus: null,
      }),
    },
    {
      type: 'task.status',
      timestamp: expect.any(String),
      data: expect.objectContaining({
        status: 'in_review',
        previousStatus: 'backlog',
        summary: 'Task in review: Greet',
      }),
    },
    {
      type: 'task.attention',
      timestamp: expect.any(String),
      data: expect.objectContaining({
        reason: 'review',
        summary: 'Review: Greet',
        url: `http://localhost:3000/tasks/${task}?tab=diff`,
      }),
    },
  ]);
  const listed = await deliveries(id);
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(receiver.received.map(({ id }) => id).reverse());
  expect(listed[0]).toMatchObject({ event: 'task.attention', status: 'delivered', attempts: 1, responseStatus: 204 });
});

test('runs, sprints, proofs and budgets are told, too', async () => {
  const id = await hook();
  const task = await newTask();
  const run = `run_${task}`;
  await sql(`insert into runs (id, task_id, project_id, kind, status) values ($1, $2, $3, 'start', 'running')`, [
    ...[run, task, projectId],
  ]);
  await sql(
    `update runs set status = 'waiting', wait_id = 'w', wait_reason = 'question', wait_text = 'Which?', wait_options = '["a"]',
       waiting_since = now() where id = $1`,
    [run],
  );
  await sql(`insert into proofs (run_id, task_id, status, reason) values ($1, $2, 'proved', null)`, [run, task]);
  const failure = JSON.stringify({ category: 'budget', message: 'used up', retryable: false });
  await sql(
    `update runs set status = 'failed', failure = $2, finished_at = now(), wait_id = null, wait_reason = null,
       wait_text = null, wait_options = null, waiting_since = null where id = $1`,
    [run, failure],
  );
  await sql('update tasks set failure = $2 where id = $1', [task, failure]);
  const dates = { startDate: '2026-01-01', endDate: '2026-01-14' };
  await call('POST', `/projects/${projectId}/sprints`, { name: 'First', ...dates });
  await send(id);
  const told = receiver.received.map(({ payload: { type, data } }) => [type, data.summary, data.text ?? null]);
  expect(told).toEqual([
    ['task.status', 'Task backlog: Greet', null],
    ['task.attention', 'Question: Greet', 'Which?'],
    ['proof', 'Proof proved: Greet', null],
    ['run.ended', 'Run failed: Greet', null],
    ['budget', 'Budget used up: Greet', 'used up'],
    ['task.attention', 'Failed: Greet', 'used up'],
    ['sprint.status', 'Sprint planning: First', null],
  ]);
});

test('a change that is rolled back is not delivered', async () => {
  const id = await hook();
  const task = await newTask();
  await send(id);
  const undone = app.db.transaction(async (em) => {
    await em.query(`update tasks set status = 'ready' where id = $1`, [task]);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await send(id);
  expect(receiver.received).toHaveLength(1);
});

test('a receiver that is down for an hour gets everything, in the order of each task', async () => {
  const id = await hook({ events: ['task.status'] });
  const tasks = [await newTask('One'), await newTask('Two')];
  refuse(503);
  for (const status of ['ready', 'in_progress', 'in_review'])
    for (const task of tasks) {
      await moveTo(task, status);
      await send(id);
      await pass('20 minutes');
    }
  expect(receiver.received).toEqual([]);
  receiver.answer = accept;
  await pass('1 day');
  await send(id);
  for (const task of tasks) {
    const own = receiver.received.filter(({ payload }) => payload.data.taskId === task);
    expect(own.map(({ payload }) => payload.data.status)).toEqual(['backlog', 'ready', 'in_progress', 'in_review']);
  }
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(8);
});

test('the later events of a task wait for one that fails, and those of other tasks do not', async () => {
  const id = await hook({ events: ['task.status'] });
  const [bad, good] = [await newTask('Bad'), await newTask('Good')];
  await moveTo(bad, 'ready');
  receiver.answer = (response, received) => {
    if (received.payload.data.title === 'Bad') response.writeHead(500).end();
    else accept(response, received);
  };
  await send(id);
  expect(receiver.received.map(({ payload }) => payload.data.taskId)).toEqual([good]);
  expect(receiver.attempts).toHaveLength(2);
});

test('a worker that is killed between sending and noting sends again, with the same id', async () => {
  const id = await hook({ events: ['task.status'] });
  await newTask();
  const claimed = await claimDelivery(app.db.manager, id, 60);
  await send(id);
  expect(receiver.attempts).toEqual([]);
  await pass('61 seconds');
  await send(id);
  expect(receiver.attempts).toEqual([claimed?.id]);
});

test('after three days without success, the webhook is switched off, and the admins hear of it', async () => {
  const id = await hook({ events: ['task.status'] });
  const task = await newTask();
  refuse(500);
  await send(id);
  await pass('71 hours');
  await send(id);
  expect((await call('GET', path)).body).toMatchObject([{ enabled: true, problem: null }]);
  await moveTo(task, 'ready');
  await pass('71 hours');
  await send(id);
  const problem = expect.stringContaining('The receiver answered HTTP 500.');
  expect((await call('GET', path)).body).toMatchObject([{ enabled: false, problem }]);
  expect((await deliveries(id)).map(({ status }: { status: string }) => status)).toEqual(['failed', 'failed']);
  const mine = (await call('GET', '/me/inbox')).body.filter(
    (entry: { projectId: string }) => entry.projectId === projectId,
  );
  expect(mine).toMatchObject([{ taskId: null, reason: 'webhook', title: `Webhook to ${new URL(receiver.url).host}` }]);
  await newTask('while it is off');
  const on = await call('PATCH', `${path}/${id}`, { enabled: true });
  expect(on.body).toMatchObject({ enabled: true, problem: null });
  expect((await deliveries(id)).length).toBe(2);
  receiver.answer = accept;
  const [, first] = await deliveries(id);
  expect((await call('POST', `${path}/${id}/deliveries/${first.id}/redeliver`)).status).toBe(202);
  await send(id);
  expect(receiver.received.map(({ id }) => id)).toEqual([first.id]);
  expect(
    (await call('GET', '/me/inbox')).body.filter((entry: { projectId: string }) => entry.projectId === projectId),
  ).toEqual([]);
});

test('a receiver that answers 410 is switched off at once', async () => {
  const id = await hook();
  await newTask();
  await newTask();
  refuse(410);
  await send(id);
  expect(receiver.attempts).toHaveLength(1);
  expect((await call('GET', path)).body).toMatchObject([{ enabled: false, problem: expect.stringContaining('410') }]);
  expect(await call('POST', `${path}/${id}/test`)).toMatchObject({
    status: 409,
    body: { message: 'The webhook is switched off. Switch it on first.' },
  });
});

test('a redirect is not followed, and a pause that a receiver asks for is kept within bounds', async () => {
  const id = await hook({ events: ['task.status'] });
  await newTask();
  refuse(302, { Location: receiver.url });
  await send(id);
  expect((await deliveries(id))[0]).toMatchObject({
    status: 'waiting',
    responseStatus: 302,
    response: 'no',
    problem: expect.stringContaining('redirect'),
  });
  refuse(429, { 'Retry-After': '86400' });
  await pass('1 minute');
  await send(id);
  await newTask();
  await send(id);
  expect(receiver.attempts).toHaveLength(2);
  const [{ rest }] = await sql(
    'select extract(epoch from rest_until - now())::float8 as rest from webhooks where id = $1',
    [id],
  );
  expect(rest).toBeGreaterThan(3500);
  expect(rest).toBeLessThanOrEqual(3600);
});

test('an address that becomes closed is refused when it is connected to', async () => {
  const id = await hook();
  await newTask();
  app.config.ALLOW_PRIVATE_HOSTS = false;
  try {
    await send(id);
    expect(receiver.attempts).toEqual([]);
    expect((await deliveries(id))[0].problem).toMatch(/^The receiver could not be reached \(/);
  } finally {
    app.config.ALLOW_PRIVATE_HOSTS = true;
  }
});

test('a receiver that is too slow has failed, and what was said later changes nothing', async () => {
  const id = await hook({ events: ['task.status'] });
  await newTask();
  receiver.answer = () => {};
  await sendWebhook(app, { webhookId: id, projectId }, { patienceMs: 50 });
  expect((await deliveries(id))[0]).toMatchObject({
    status: 'waiting',
    problem: 'The receiver did not answer within 0.05 s.',
  });
});

test.each([100_000, 3])('only the beginning of an answer is read, even if it never ends (%i bytes)', async (bytes) => {
  const id = await hook({ events: ['task.status'] });
  await newTask();
  receiver.answer = (response) => response.writeHead(200).write('x'.repeat(bytes));
  await sendWebhook(app, { webhookId: id, projectId }, { patienceMs: 600_000 });
  const response = 'x'.repeat(Math.min(bytes, 500));
  expect((await deliveries(id))[0]).toMatchObject({ status: 'delivered', response });
});

test('a message for Slack says the sentence once, escaped, with a button', async () => {
  const id = await hook({ format: 'slack' });
  const task = await newTask('<!channel> & <http://evil|x>');
  await moveTo(task, 'in_review');
  await send(id);
  const text = 'Review: &lt;!channel&gt; &amp; &lt;http://evil|x&gt;';
  expect(receiver.received.map(({ payload }) => payload)).toEqual([
    expect.objectContaining({ text: expect.stringMatching(/^Task backlog: /) }),
    {
      text,
      blocks: [
        {
          type: 'section',
          text: { type: 'mrkdwn', text: text.replace('Review:', '*Review:*'), verbatim: true },
        },
        {
          type: 'actions',
          elements: [
            {
              type: 'button',
              text: { type: 'plain_text', text: 'Decide' },
              url: `http://localhost:3000/tasks/${task}?tab=diff`,
            },
          ],
        },
      ],
    },
  ]);
});

test.each([
  [{ url: 'http://example.com/' }, 'url must begin with https://'],
  [{ url: 'https://user:pass@example.com/' }, 'url must not contain a user name or password'],
  [{ url: 'nonsense' }, 'url must be an https address such as https://example.com/hooks'],
  [{ events: [] }, 'events must name at least one event'],
  [{ events: ['task.deleted'] }, 'events.0 must be one of task.status'],
  [{ format: 'teams' }, 'format must be standard or slack'],
])('%j is refused', async (wrong, message) => {
  const answer = await call('POST', path, { url: 'https://example.com/', events: all, ...wrong });
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});

test('private addresses are refused unless they are allowed', async () => {
  app.config.ALLOW_PRIVATE_HOSTS = false;
  try {
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]', '10.0.0.1'])
      expect(await call('POST', path, { url: `https://${host}/`, events: all })).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'url' }] },
      });
  } finally {
    app.config.ALLOW_PRIVATE_HOSTS = true;
  }
});

test('the secret is shown once and stored encrypted; a project has at most 20 webhooks', async () => {
  const id = await hook();
  const secret = receiver.secret ?? '';
  expect(JSON.stringify((await call('GET', path)).body)).not.toContain('secret');
  expect(JSON.stringify((await call('PATCH', `${path}/${id}`, { events: ['proof'] })).body)).not.toContain('secret');
  expect(JSON.stringify(await sql('select w::text from webhooks w'))).not.toContain(secret);
  for (let i = 1; i < 20; i++) await hook();
  expect(await call('POST', path, { url: receiver.url, events: all })).toMatchObject({
    status: 409,
    body: { message: 'The project has 20 webhooks, which is the limit. Delete one first.' },
  });
  expect((await call('DELETE', `${path}/${id}`)).status).toBe(204);
  expect((await call('GET', `${path}/${id}/deliveries`)).status).toBe(404);
});

test('only admins see webhooks', async () => {
  await hook();
  const member = await service.token('hubot');
  await sql(
    `insert into members (project_id, user_id, role) select $1, id, 'member' from users where login = 'hubot'`,
    [projectId],
  );
  expect((await call('GET', path, undefined, member)).status).toBe(403);
});

test('a test is delivered by the queue', async () => {
  const id = await hook();
  const arrived = new Promise<void>((resolve) => {
    receiver.answer = (response, received) => {
      response.on('finish', resolve);
      accept(response, received);
    };
  });
  await service.work();
  expect(await call('POST', `${path}/${id}/test`)).toMatchObject({ status: 202, body: { event: 'test' } });
  await arrived;
  expect(receiver.received).toMatchObject([
    { payload: { type: 'test', data: { webhookId: id, text: 'octocat asked for this test.' } } },
  ]);
  await wakeWebhooks(app);
});

test('old deliveries are deleted', async () => {
  const id = await hook();
  await newTask();
  await sql(`update webhook_deliveries set at = now() - interval '31 days' where webhook_id = $1`, [id]);
  expect(await deleteOldWebhookDeliveries(app.db.manager, 30, 500)).toBe(1);
});
