import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { linkChanged } from '../../../src/github/links/link-events.ts';
import { isMissing } from '../../../src/github/links/link-store.ts';
import { compareLinks } from '../../../src/github/links/sync-links.ts';
import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, people, read, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const bot = { ...shown(41, 'deckhand[bot]'), type: 'Bot' };
const ada = shown(400, 'ada');
const bob = shown(300, 'bob');
const stranger = shown(500, 'eve');
const repository_url = (name = 'acme/app') => `https://api.github.com/repos/${name}`;
const api = '/repos/acme/app/issues';

/** Three tasks of ada's with the issues 1, 2 and 3, and what GitHub shows of their links. */
async function linkedTasks() {
  const shop = await acme.twoPeople();
  const { call, projectId, own, em } = shop;
  for (const table of ['tasks', 'missing_on_host']) await em.query(`delete from ${table}`);
  const ids: string[] = [];
  for (const number of [1, 2, 3]) {
    const { body } = await call('ada', 'POST', `/projects/${projectId}/tasks`, {
      title: `t${number}`,
      repositoryId: own.id,
    });
    ids.push(body.id);
    await em.query(
      `update tasks set issue_repository_id = $2, issue_number = $3, issue_url = 'u', issue_title = title, issue_body = '' where id = $1`,
      [body.id, own.id, number],
    );
    around.pages[`/issues/${number}`] = {
      id: 1000 + number,
      number,
      repository_url: repository_url(),
      labels: [],
      title: `t${number}`,
    };
  }
  people.set(500, 'eve');
  const [one, two, three] = ids as [string, string, string];
  const shows = (kind: 'sub_issues' | 'dependencies/blocked_by', owner: number, numbers: number[]) => {
    around.pages[`/issues/${owner}/${kind}`] = numbers.map((number) => ({
      id: 1000 + number,
      number,
      repository_url: repository_url(),
    }));
  };
  for (const number of [1, 2, 3]) {
    shows('sub_issues', number, []);
    shows('dependencies/blocked_by', number, []);
    around.pages[`/issues/${number}/events`] = [];
  }
  const does = (number: number, event: string, actor: object) => {
    (around.pages[`/issues/${number}/events`] as object[]).push({ id: 1, event, actor });
  };
  const task = async (id: string) => (await call('ada', 'GET', `/tasks/${id}`)).body;
  const refusals = async (id: string) =>
    (await call('ada', 'GET', `/tasks/${id}/timeline`)).body.filter((e: { type: string }) => e.type === 'link_refused');
  const notice = async (number: number) =>
    (await em.query('select notice from mirrored where number = $1', [number]))[0]?.notice ?? '';
  asked.length = 0;
  return { ...shop, one, two, three, shows, does, task, refusals, notice, app: acme.service.app };
}
const writes = () =>
  asked.filter(({ path }) => /sub_issue|dependencies/.test(path)).map(({ path, body }) => [path, body]);

test('a dependency is written once with the id of the issue, and a killed job writes it no second time', async () => {
  const { app, call, one, two, shows, em } = await linkedTasks();
  await call('ada', 'PATCH', `/tasks/${one}`, { dependsOn: [two] });
  await syncTask(app, { taskId: one, recheck: false });
  expect(writes()).toEqual([[`${api}/1/dependencies/blocked_by`, { issue_id: 1002 }]]);
  shows('dependencies/blocked_by', 1, [2]);
  // As if it had been killed before it stored that both sides agree.
  await em.query('delete from issue_links');
  await syncTask(app, { taskId: one, recheck: false });
  await syncTask(app, { taskId: one, recheck: false });
  expect(writes()).toHaveLength(1);
  await call('ada', 'PATCH', `/tasks/${one}`, { dependsOn: [] });
  await syncTask(app, { taskId: one, recheck: false });
  expect(writes().slice(1)).toEqual([[`${api}/1/dependencies/blocked_by/1002`, {}]]);
});

test('what our own bot did on GitHub is not taken over, but taken back if it is gone here', async () => {
  const { app, one, task, shows, does } = await linkedTasks();
  shows('dependencies/blocked_by', 1, [2]);
  does(1, 'blocked_by_added', bot);
  await compareLinks(app, one);
  expect((await task(one)).dependsOn).toEqual([]);
  expect(writes()).toEqual([[`${api}/1/dependencies/blocked_by/1002`, {}]]);
});

test('a refusal of GitHub is said once, does not stop the rest, and is tried again after a day', async () => {
  const { app, call, one, two, three, refusals, em } = await linkedTasks();
  await call('ada', 'PATCH', `/tasks/${one}`, { dependsOn: [two, three] });
  const message = 'Too many issues block this one';
  around.writes[`POST ${api}/1/dependencies/blocked_by`] = { status: 422, body: { message } };
  await syncTask(app, { taskId: one, recheck: false });
  await syncTask(app, { taskId: one, recheck: true });
  expect(writes()).toHaveLength(2);
  expect(asked.map(({ path }) => path)).toContain(`${api}/1/comments`);
  expect((await refusals(one)).map(({ text }: { text: string }) => text).sort()).toEqual([
    `Dependency on issue 2: GitHub answered with status 422: ${message}`,
    `Dependency on issue 3: GitHub answered with status 422: ${message}`,
  ]);
  await compareLinks(app, one);
  expect(writes()).toHaveLength(2);
  await em.query(`update issue_links set again_at = now()`);
  await compareLinks(app, one);
  expect([writes().length, (await refusals(one)).length]).toEqual([4, 2]);
});

const event = (change: 'added' | 'removed', sender: typeof ada) =>
  ({
    kind: 'dependency',
    change,
    owner: { repository: 1, number: 1 },
    other: { repository: 1, number: 2 },
    sender,
  }) as const;

test.each([
  ['a stranger', stranger],
  ['another App', { ...shown(600, 'other[bot]'), type: 'Bot' }],
  ['our own bot', bot],
])('what %s changes changes nothing, and causes no comment', async (_who, sender) => {
  const { app, one, own, task, shows, does, notice } = await linkedTasks();
  people.set(600, 'other[bot]');
  const place = (await placeOfRepository(app, own.id)) as Place;
  shows('dependencies/blocked_by', 1, [2]);
  if (sender !== bot) does(1, 'blocked_by_added', sender);
  for (let i = 0; i < 2; i++) await linkChanged(app, place, event('added', sender));
  expect((await task(one)).dependsOn).toEqual([]);
  expect(writes()).toEqual([]);
  expect(await notice(1)).toBe('');
});

test('a writer adds and removes a dependency; a repeated event and a late one change nothing', async () => {
  const { app, one, two, own, task, shows } = await linkedTasks();
  const place = (await placeOfRepository(app, own.id)) as Place;
  shows('dependencies/blocked_by', 1, [2]);
  for (let i = 0; i < 2; i++) await linkChanged(app, place, event('added', ada));
  expect((await task(one)).dependsOn).toEqual([two]);
  shows('dependencies/blocked_by', 1, []);
  await linkChanged(app, place, event('removed', ada));
  await linkChanged(app, place, event('added', ada));
  expect((await task(one)).dependsOn).toEqual([]);
  expect(writes()).toEqual([]);
});

test('who may not write where one of the tasks works links nothing, and the status comment says why', async () => {
  const { app, one, two, own, secret, task, shows, em, notice } = await linkedTasks();
  const place = (await placeOfRepository(app, own.id)) as Place;
  await em.query('update tasks set repository_id = $2 where id = $1', [two, secret.id]);
  shows('dependencies/blocked_by', 1, [2]);
  await linkChanged(app, place, event('added', bob));
  expect((await task(one)).dependsOn).toEqual([]);
  expect(await notice(1)).toContain('#2 was not taken over: bob has no write permission');
});

test('lost events: a subtask needs who added it last, and a dependency everybody who added one', async () => {
  const { app, one, two, three, task, shows, does } = await linkedTasks();
  shows('sub_issues', 1, [2]);
  does(2, 'parent_issue_added', stranger);
  does(2, 'parent_issue_added', ada);
  shows('dependencies/blocked_by', 1, [3]);
  does(1, 'blocked_by_added', stranger);
  does(1, 'blocked_by_added', ada);
  await compareLinks(app, one);
  expect([(await task(two)).parentId, (await task(one)).dependsOn]).toEqual([one, []]);
  expect((await task(three)).parentId).toBeNull();
});

test.each([
  ['has subtasks of its own', (t: Linked) => t.call('ada', 'POST', `/tasks/${t.two}/subtasks`, { title: 'x' })],
  ['waits for the other one', (t: Linked) => t.call('ada', 'PATCH', `/tasks/${t.two}`, { dependsOn: [t.one] })],
  [
    'is a subtask of another task already',
    (t: Linked) => t.em.query('update tasks set parent_id = $2 where id = $1', [t.two, t.three]),
  ],
  [
    'subtask cannot have subtasks',
    (t: Linked) => t.em.query('update tasks set parent_id = $2 where id = $1', [t.one, t.three]),
  ],
  ['the task is done', (t: Linked) => t.em.query(`update tasks set status = 'done' where id = $1`, [t.one])],
] as const)('a task that %s becomes no subtask, and it is said once', async (why, given) => {
  const linked = await linkedTasks();
  const { app, one, two, task, shows, does, notice, em } = linked;
  await given(linked);
  const before = (await task(two)).parentId;
  shows('sub_issues', 1, [2]);
  does(2, 'parent_issue_added', ada);
  await compareLinks(app, one);
  expect((await task(two)).parentId).toBe(before);
  expect((await notice(1)).toLowerCase()).toContain(why === 'the task is done' ? 'done' : why);
  await em.query(`update mirrored set notice = ''`);
  await em.query('update issue_links set again_at = now()');
  await compareLinks(app, one);
  expect(await notice(1)).toBe('');
});
type Linked = Awaited<ReturnType<typeof linkedTasks>>;

test('a done task becomes a subtask for which nobody waits', async () => {
  const { app, one, two, task, shows, does, em } = await linkedTasks();
  await em.query(`update tasks set status = 'done' where id = $1`, [two]);
  shows('sub_issues', 1, [2]);
  does(2, 'parent_issue_added', ada);
  await compareLinks(app, one);
  expect([(await task(two)).parentId, (await task(one)).status]).toEqual([one, 'backlog']);
});

test.each([404, 410])('a GitHub without the addresses (%i) is asked again after a day only', async (status) => {
  const { app, call, one, two, em, task } = await linkedTasks();
  const path = `${api}/1/dependencies/blocked_by?per_page=100&page=1`;
  around.reads[path] = { status, body: { message: 'Not Found' } };
  await call('ada', 'PATCH', `/tasks/${one}`, { dependsOn: [two] });
  read.length = 0;
  for (let i = 0; i < 2; i++) await syncTask(app, { taskId: one, recheck: false });
  expect(read.filter((each) => each === path)).toHaveLength(1);
  expect(await isMissing(em, 1, 'dependency')).toBe(true);
  expect(await isMissing(em, 1, 'subtask')).toBe(false);
  expect([(await task(one)).dependsOn, writes()]).toEqual([[two], []]);
  delete around.reads[path];
  await em.query(`update missing_on_host set at = now() - interval '25 hours'`);
  await syncTask(app, { taskId: one, recheck: false });
  expect(writes()).toHaveLength(1);
});

test('an issue that cannot be read says nothing about the host', async () => {
  const { app, call, one, two, em } = await linkedTasks();
  around.reads[`${api}/1/dependencies/blocked_by?per_page=100&page=1`] = {
    status: 404,
    body: { message: 'Not Found' },
  };
  around.reads[`${api}/1`] = { status: 404, body: { message: 'Not Found' } };
  await call('ada', 'PATCH', `/tasks/${one}`, { dependsOn: [two] });
  await syncTask(app, { taskId: one, recheck: false });
  expect(await isMissing(em, 1, 'dependency')).toBe(false);
});

test('an issue that was deleted takes its links with it, and nothing is written', async () => {
  const { app, call, one, two, shows, em } = await linkedTasks();
  shows('dependencies/blocked_by', 1, [2]);
  await call('ada', 'PATCH', `/tasks/${one}`, { dependsOn: [two] });
  await compareLinks(app, one);
  await em.query('update tasks set issue_number = null, issue_repository_id = null where id = $1', [two]);
  await compareLinks(app, one);
  expect(writes()).toEqual([]);
  expect(await em.query('select 1 from issue_links')).toEqual([]);
});
