import { placeOfRepository } from '../../../src/github/app/place.ts';
import { heardUntil, setMark } from '../../../src/github/delivery-store.ts';
import { skipSinceBackup } from '../../../src/github/inbox/after-restore.ts';
import { catchUp } from '../../../src/github/inbox/catch-up.ts';
import { compareJob } from '../../../src/github/inbox/compare-with-github.ts';
import { listProjectsToCompare } from '../../../src/github/store.ts';
import { withClockAhead } from '../../support/machine/clock.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, barred, people, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const anHourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const aMinuteAgo = () => new Date(Date.now() - 60_000).toISOString();

/** Catches up with acme/app since an hour ago. */
async function caughtUp(isOver = () => false, since = anHourAgo()) {
  const { own } = await acme.twoPeople();
  const place = await placeOfRepository(acme.service.app, own.id);
  if (place === undefined) throw new Error('acme/app is not installed');
  const em = acme.service.app.db.manager;
  await setMark(em, `heard ${own.id}`, since);
  const before = await heardUntil(em, own.id);
  const touched = await catchUp(acme.service.app, place, isOver);
  return { touched: [...touched], hasMoved: (await heardUntil(em, own.id)) !== before };
}

const issue = (number: number) => ({
  number,
  title: 'An issue',
  body: '',
  html_url: `u/${number}`,
  user: shown(400, 'ada'),
  created_at: '2026-01-01T00:00:00Z',
  labels: [],
});

/** Puts comments with a command on issue 1, each by the person with this id on GitHub. */
function write(...by: [id: number, login: string][]): void {
  around.pages['/issues'] = [];
  around.pages['/issues/1'] = issue(1);
  const comments = by.map(([id, login], i) => ({
    id: i + 1,
    node_id: `node_${i + 1}`,
    body: '/agent create',
    user: shown(id, login),
    created_at: aMinuteAgo(),
    issue_url: 'https://api.github.com/repos/acme/app/issues/1',
  }));
  around.pages['/issues/comments'] = comments;
  around.comments = comments;
  around.nodes = comments.map(({ node_id: id }) => ({ id, lastEditedAt: null, editor: null }));
}

test('GitHub is asked nothing about the comments of people whose commands do not count', async () => {
  people.set(500, 'mallory');
  barred.add('500 1');
  write(...Array.from({ length: 50 }, (): [number, string] => [500, 'mallory']), [400, 'ada']);
  await caughtUp();
  expect(asked.filter(({ path }) => path === '/graphql').map(({ body }) => body.variables)).toEqual([
    { ids: ['node_51'] },
    expect.anything(),
  ]);
  // Her command is handled. The others' comments get not even a reaction.
  const reacted = asked.map(({ path }) => path).filter((path) => path.endsWith('/reactions'));
  expect(new Set(reacted)).toEqual(new Set(['/repos/acme/app/issues/comments/51/reactions']));
});

test('a worker whose clock is an hour ahead does not hide later comments from the others', async () => {
  write();
  const { em, own } = await acme.twoPeople();
  const since = anHourAgo();
  expect(await withClockAhead(3_600_000, () => caughtUp(undefined, since))).toMatchObject({ hasMoved: true });
  expect(Date.parse((await heardUntil(em, own.id)) ?? '')).toBeLessThan(Date.now());
});

test('when the time is over among the issues, the next catch-up begins where this one did', async () => {
  write();
  around.pages['/issues'] = [issue(1), issue(2)];
  let left = 1;
  expect(await caughtUp(() => left-- <= 0)).toEqual({ touched: [1], hasMoved: false });
  expect(await caughtUp()).toEqual({ touched: [1, 2], hasMoved: true });
});

test('commands whose events were lost are found in reviews and in comments on lines', async () => {
  write();
  const { em, own, task } = await acme.twoPeople();
  await em.query('delete from handled_commands');
  const taskId = await task('ada');
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, 1, 'u', 'open', 'agent/x', 'a')`,
    [taskId, own.id],
  );
  const ada = shown(400, 'ada');
  around.pages['/issues'] = [{ ...issue(1), pull_request: {} }];
  around.pages['/issues/1'] = { ...issue(1), pull_request: {} };
  const place = { path: 'a.ts', line: 1, pull_request_url: 'https://api.github.com/repos/acme/app/pulls/1' };
  const times = { created_at: aMinuteAgo(), updated_at: aMinuteAgo() };
  const lines = [1, 2].map((id) => ({
    ...{ id, node_id: `L_${id}`, body: `/agent nonsense${id}`, user: ada, pull_request_review_id: 9 },
    ...{ ...place, ...times, ...(id === 2 ? { in_reply_to_id: 1 } : {}) },
  }));
  around.pages['/pulls/comments'] = lines;
  around.pages['/pulls/1/comments'] = lines;
  around.pages['/pulls/1/reviews'] = [
    { id: 9, node_id: 'R_9', state: 'APPROVED', body: '/agent nonsense9', user: ada, submitted_at: aMinuteAgo() },
  ];
  around.pages['/pulls/1/reviews/9'] = { id: 9 };
  around.nodes = ['L_1', 'L_2', 'R_9'].map((id) => ({ id, lastEditedAt: null, editor: null }));
  await caughtUp();
  const keys = await em.query('select key from handled_commands order by key');
  expect(keys.map(({ key }: { key: string }) => key)).toEqual(['1/1/review 9/0', '1/1/thread 1/0', '1/1/thread 2/0']);
  // Answers go to the first comment of the thread.
  const told = asked.filter(({ path }) => path.endsWith('/replies')).map(({ path, body }) => [path, body.body]);
  expect(told).toEqual([
    ['/repos/acme/app/pulls/1/comments/1/replies', expect.stringContaining('nonsense1')],
    ['/repos/acme/app/pulls/1/comments/1/replies', expect.stringContaining('nonsense2')],
  ]);
});

test('after a restore, what was said since the backup is listed and not carried out, nor are stored deliveries', async () => {
  write([400, 'ada']);
  const { em, own, task } = await acme.twoPeople();
  await em.query('delete from handled_commands');
  await task('ada');
  around.pages['/issues/comments'] = around.comments.map((comment) => ({
    ...comment,
    html_url: 'https://gh/c/1',
    created_at: new Date(Date.now() - 5000).toISOString(),
  }));
  around.pages['/issues'] = [{ ...issue(2), body: 'See /agent start', created_at: new Date().toISOString() }, issue(3)];
  around.pages['/pulls/comments'] = [];
  await setMark(em, `heard ${own.id}`, anHourAgo());
  await em.query(`insert into deliveries (guid, event, signature, payload) values ('left', 'ping', '', '{}')`);
  const { count, lines, unread } = await skipSinceBackup(acme.service.app);
  expect(lines).toEqual(
    expect.arrayContaining(['1 delivery of an event', 'u/2  See /agent start', 'https://gh/c/1  /agent create']),
  );
  expect([count, unread]).toEqual([lines.length, []]);
  expect(await em.query(`select guid from deliveries where handled_at is null`)).toEqual([]);
  const place = await placeOfRepository(acme.service.app, own.id);
  if (place === undefined) throw new Error('acme/app is not installed');
  // The second reading begins a minute earlier than the first one ended, but not before the restore.
  for (let i = 0; i < 2; i++) await catchUp(acme.service.app, place, () => false);
  expect(await em.query('select key from handled_commands')).toEqual([]);
});

describe('after a restore, a repository that GitHub does not let the App read', () => {
  const parts = ['/issues', '/issues/comments', '/pulls/comments'];
  const refuse = (path: string, status: number) => {
    around.reads[path] = { status, body: { message: 'no' } };
  };
  /** Lets GitHub refuse one part, and returns what was skipped and whether the others could repeat something. */
  const skippedWithout = async (part: string, status: number, without?: string[]) => {
    write([400, 'ada']);
    around.pages['/issues/comments'] = [];
    const { em, own, task } = await acme.twoPeople();
    await task('ada');
    const before = anHourAgo();
    await setMark(em, `heard ${own.id}`, before);
    refuse(
      `/repos/acme/app${part}?since=${encodeURIComponent(before)}&per_page=100${part === '/issues' ? '&state=all' : ''}`,
      status,
    );
    const { lines, unread } = await skipSinceBackup(acme.service.app, without);
    return { lines, unread, isSkipped: (await heardUntil(em, own.id)) !== before };
  };

  test.each(
    parts.flatMap((part) => [403, 404, 410, 500].map((status) => [part, status] as const)),
  )('is named with the reason, and its commands still count as missed: %s, %i', async (part, status) => {
    const { unread, isSkipped } = await skippedWithout(part, status);
    expect(unread).toEqual([{ name: 'acme/app', why: expect.stringMatching(`^GitHub answered HTTP ${status}: no`) }]);
    expect(unread[0]?.why).not.toContain('not installed');
    expect(isSkipped).toBe(false);
  });

  test('is said to be gone if the App is not installed there', async () => {
    refuse('/repos/acme/app/installation', 404);
    const { unread } = await skippedWithout('/issues', 404);
    expect(unread[0]?.why).toContain('the App is not installed there any more');
  });

  test('is skipped unread if the operator says so, by its name', async () => {
    const { lines, unread, isSkipped } = await skippedWithout('/issues', 404, ['Acme/App']);
    expect([lines, unread, isSkipped]).toEqual([['acme/app  nothing of it was read'], [], true]);
    await expect(skipSinceBackup(acme.service.app, ['acme/other'])).rejects.toThrow(
      '--without: no project has the repository acme/other',
    );
  });
});

test('a merge in a repository that is connected without the App is found by the comparison', async () => {
  write();
  const { em, own, projectId, ids, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [taskId]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, base_branch)
     values ($1, $2, 7, 'u', 'open', 'agent/x', 'a', 'main')`,
    [taskId, own.id],
  );
  await em.query('update repositories set is_installed = false, connected_by = $2 where id = $1', [own.id, ids.ada]);
  const merged = { number: 7, html_url: 'u', state: 'closed', merged: true, merged_at: new Date().toISOString() };
  const branches = {
    head: { sha: 'a', ref: 'agent/x', repo: { id: 1 } },
    base: { sha: 'b', ref: 'main', repo: { id: 1 } },
  };
  around.pages['/pulls/7'] = { ...merged, ...branches, body: '', additions: 1 };
  await compareJob(acme.service.app, projectId);
  const read = async () => (await em.query('select status from tasks where id = $1', [taskId]))[0];
  expect(await read()).toEqual({ status: 'done' });
});

test('a reconciliation of a viewer compares no project with GitHub', async () => {
  const { em, ids, projectId } = await acme.twoPeople();
  await em.query(`update members set role = 'viewer' where user_id = $1`, [ids.bob]);
  expect(await listProjectsToCompare(em, ids.bob)).toEqual([]);
  expect(await listProjectsToCompare(em, ids.ada)).toEqual([projectId]);
});
