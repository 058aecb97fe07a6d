import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { labelChanged } from '../../../src/github/commands/labels.ts';
import { observeIssue } from '../../../src/github/follow/issues.ts';
import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, read, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const issue = '/repos/acme/app/issues/8';
const labels = `${issue}/labels`;
const events = (page: number) => `${issue}/events?per_page=100&page=${page}`;
const sync = (taskId: string) => syncTask(acme.service.app, { taskId, recheck: true });

/** A task in the backlog with an issue that has these labels. */
async function labelled(...names: string[]) {
  const { em, own, task, call } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query('update tasks set issue_repository_id = $2, issue_number = 8 where id = $1', [taskId, own.id]);
  const body = names.map((name) => ({ name }));
  around.reads[`${labels}?per_page=100`] = { status: 200, body };
  around.reads[issue] = { status: 200, body: { number: 8, title: 't', state: 'open', labels: body, ...here } };
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  asked.length = 0;
  return { em, place, taskId, status: async () => (await call('ada', 'GET', `/tasks/${taskId}`)).body.status };
}
const here = { repository_url: 'https://api.github.com/repos/acme/app' };

test('an issue that has too many labels still shows its task, and says so', async () => {
  const { em, taskId } = await labelled();
  const notice = async () => (await em.query('select notice from mirrored where task_id = $1', [taskId]))[0].notice;
  around.writes[`POST ${labels}`] = { status: 422, body: { message: 'Validation Failed' } };
  await sync(taskId);
  expect(asked.map(({ path }) => path)).toContain(`${issue}/comments`);
  expect(await notice()).toContain('an issue has 100 at most');
  await sync(taskId);
  around.writes = {};
  await sync(taskId);
  expect(await notice()).toBe('');
});

test('what a command said is not replaced by what is said about labels', async () => {
  const { em, taskId } = await labelled();
  await em.query(
    `insert into mirrored (task_id, repository_id, number, notice)
     select id, issue_repository_id, 8, 'refused' from tasks where id = $1`,
    [taskId],
  );
  around.writes[`POST ${labels}`] = { status: 422, body: { message: 'Validation Failed' } };
  await sync(taskId);
  expect(await em.query('select notice from mirrored where task_id = $1', [taskId])).toEqual([{ notice: 'refused' }]);
});

test('our labels are ours in any letter case', async () => {
  const { place, taskId, status } = await labelled('Agent:Backlog', 'AGENT:DONE', 'Bug');
  await sync(taskId);
  expect(asked.filter(({ path }) => path.startsWith(labels)).map(({ path }) => decodeURIComponent(path))).toEqual([
    `${labels}/AGENT:DONE`,
  ]);
  expect((await observeIssue(acme.service.app, place, 8)).labels).toEqual(['agent:backlog', 'agent:done', 'bug']);
  const label = 'Agent:Ready';
  around.reads[`${labels}?per_page=100`] = { status: 200, body: [{ name: label }] };
  const event = { event: 'labeled', id: 1, label: { name: label }, actor: shown(400, 'ada') };
  around.reads[events(1)] = {
    status: 200,
    body: [{ ...event, created_at: new Date().toISOString() }],
  };
  await labelChanged(acme.service.app, place, { number: 8, label, sender: shown(400, 'ada'), isPull: false });
  expect(await status()).toBe('ready');
});

test('the newest 1,000 events of an issue say who added a label', async () => {
  const { place, status } = await labelled();
  around.reads[`${labels}?per_page=100`] = { status: 200, body: [{ name: 'agent:ready' }] };
  // Somebody without write permission added it first, and removed it.
  const event = (id: number, change: string, name: string) => ({
    ...{ id, event: change, label: { name: 'agent:ready' }, created_at: new Date().toISOString() },
    actor: shown(id, name),
  });
  const page = (body: object[]) => ({
    ...{ status: 200, body },
    headers: { link: `<https://api.github.com${issue}/events?per_page=100&page=30>; rel="last"` },
  });
  around.reads[events(1)] = page([event(100, 'labeled', 'mona'), event(100, 'unlabeled', 'mona')]);
  for (let number = 2; number < 30; number++) around.reads[events(number)] = page([]);
  around.reads[events(30)] = page([event(400, 'labeled', 'ada')]);
  await labelChanged(acme.service.app, place, {
    ...{ number: 8, label: 'agent:ready', isPull: false },
    sender: shown(100, 'mona'),
  });
  expect(await status()).toBe('ready');
  const pages = read.filter((path) => path.startsWith(`${issue}/events`));
  expect(pages).toEqual([1, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30].map(events));
});

test('the label agent:run starts its task although GitHub fails while it is removed, and starts it once', async () => {
  const { place, status, em, taskId } = await labelled('agent:run');
  const event = { event: 'labeled', id: 9, label: { name: 'agent:run' }, actor: shown(400, 'ada') };
  around.reads[events(1)] = {
    status: 200,
    body: [{ ...event, created_at: new Date(Date.now() + 5000).toISOString() }],
  };
  const removal = `DELETE ${labels}/agent%3Arun`;
  around.writes[removal] = { status: 502, body: { message: 'Server Error' } };
  const read = { number: 8, title: 't', body: '', url: 'https://github.com/acme/app/issues/8' };
  const change = { number: 8, label: 'agent:run', sender: shown(400, 'ada'), isPull: false, issue: read };
  const tell = () => labelChanged(acme.service.app, place, change);
  await expect(tell()).rejects.toMatchObject({ status: 502 });
  around.writes = {};
  // GitHub has removed the label, and its reply was lost.
  around.reads[`${labels}?per_page=100`] = { status: 200, body: [] };
  await tell();
  expect(await status()).toBe('in_progress');
  expect(await em.query('select kind from runs where task_id = $1', [taskId])).toEqual([{ kind: 'start' }]);
  // GitHub has not removed it.
  around.reads[`${labels}?per_page=100`] = { status: 200, body: [{ name: 'agent:run' }] };
  await tell();
  expect(await em.query('select notice from mirrored where task_id = $1', [taskId])).toEqual([{ notice: '' }]);
});

test.each([404, 410])('a label is not on an issue that is gone (%i)', async (status) => {
  const { place } = await labelled();
  around.reads[`${labels}?per_page=100`] = { status, body: { message: 'Not Found' } };
  around.reads[events(1)] = { status, body: { message: 'Not Found' } };
  const sender = shown(400, 'ada');
  for (const label of ['agent:run', 'agent:ready'])
    await labelChanged(acme.service.app, place, { number: 8, label, sender, isPull: false });
  expect(asked).toEqual([]);
});

test('a check run that became stale is followed by a new one', async () => {
  const { em, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', 'open', 'agent/x', 'a')`,
    [taskId, own.id],
  );
  const was = JSON.stringify({ status: 'in_progress', title: 't', summary: '', actions: [] });
  await em.query(
    `insert into mirrored (task_id, repository_id, number, check_run_id, check_sha, check_shown)
     values ($1, $2, 5, 3, 'a', $3)`,
    [taskId, own.id, was],
  );
  const checks = '/repos/acme/app/check-runs';
  // The conclusion is "stale", which GitHub's description does not have.
  around.writes[`PATCH ${checks}/3`] = { status: 200, body: { id: 3, status: 'completed' } };
  around.writes[`POST ${checks}`] = { status: 201, body: { id: 4 } };
  await sync(taskId);
  expect(asked.map(({ path }) => path).filter((path) => path.includes('/check-runs'))).toEqual([`${checks}/3`, checks]);
  expect(await em.query('select check_run_id::int as id from mirrored where task_id = $1', [taskId])).toEqual([
    { id: 4 },
  ]);
});

test.each([
  ['merged', 'done', 1],
  ['merged', 'in_progress', 0],
  ['closed', 'done', 0],
])('the check run of a %s pull request, task %s: %i updates', async (pull, status, updates) => {
  const { em, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query('update tasks set status = $2 where id = $1', [taskId, status]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 5, 'u', $3, 'agent/x', 'a')`,
    [taskId, own.id, pull],
  );
  const was = { status: 'completed', conclusion: 'neutral', title: 'In the merge queue', summary: '', actions: [] };
  await em.query(
    `insert into mirrored (task_id, repository_id, number, check_run_id, check_sha, check_shown)
     values ($1, $2, 5, 3, 'a', $3)`,
    [taskId, own.id, JSON.stringify(was)],
  );
  const check = '/repos/acme/app/check-runs/3';
  around.writes[`PATCH ${check}`] = { status: 200, body: { id: 3, status: 'completed', conclusion: 'neutral' } };
  await sync(taskId);
  const sent = asked.filter(({ path }) => path.includes('/check-runs'));
  expect(sent.map(({ path }) => path)).toEqual(Array(updates).fill(check));
  for (const { body } of sent) expect(JSON.stringify(body)).toContain('"title":"✅ Done"');
});
