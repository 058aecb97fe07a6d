import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { observeIssue } from '../../../src/github/follow/issues.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const repo = '/repos/acme/app';
const refused = (status: number, message: string) => ({ status, body: { message } });

/** A task with issue 8, which GitHub answers with a status. Returns whether the task still has the issue afterwards. */
async function keepsIssue(status: number, reads: typeof around.reads = {}): Promise<boolean> {
  const { em, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query('update tasks set issue_repository_id = $2, issue_number = 8 where id = $1', [taskId, own.id]);
  around.reads = { [`${repo}/issues/8`]: refused(status, 'This issue was deleted'), ...reads };
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  await observeIssue(acme.service.app, place, 8);
  const [{ number }] = await em.query('select issue_number as number from tasks where id = $1', [taskId]);
  return number === 8;
}

test('an issue that GitHub answers with 410 is gone if its repository can be read', async () => {
  expect(await keepsIssue(410)).toBe(false);
});

// GitHub hides issues of accounts that it has flagged, and those that were moved to where the App cannot read.
test('a task keeps its issue while GitHub answers with 404, although its repository can be read', async () => {
  expect(await keepsIssue(404)).toBe(true);
});

test.each([404, 410])('a task keeps its issue (%i) while issues are switched off', async (status) => {
  const body = { id: 1, full_name: 'acme/app', has_issues: false };
  expect(await keepsIssue(status, { [repo]: { status: 200, body } })).toBe(true);
});

test.each([403, 404])('a task keeps its issue while we may not read the repository (%i)', async (status) => {
  expect(await keepsIssue(410, { [repo]: refused(status, 'Not Found') })).toBe(true);
});

test('a task keeps its issue while another repository has the name', async () => {
  const body = { id: 99, full_name: 'acme/app', has_issues: true };
  expect(await keepsIssue(410, { [repo]: { status: 200, body } })).toBe(true);
});

test.each([
  ['edited', false],
  ['closed', true],
])('after an issue was %s, our label and comment are read again: %s', async (action, recheck) => {
  const { em, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query('update tasks set issue_repository_id = $2, issue_number = 8 where id = $1', [taskId, own.id]);
  const issue = {
    number: 8,
    repository_url: 'https://api.github.com/repos/acme/app',
    title: 'Other',
    body: 'words',
    state: action === 'closed' ? 'closed' : 'open',
    labels: [],
  };
  around.pages = { '/issues/8': issue };
  await em.query(`delete from pgboss.job where name = 'mirror'`);
  const place = {
    installation: { id: 1 },
    repository: { id: 1, full_name: 'acme/app', owner: { login: 'acme' }, name: 'app' },
  };
  const payload = { action, ...place, sender: shown(500, 'eve'), issue: { ...issue, user: shown(500, 'eve') } };
  await acme.service.app.github?.receive({ id: `${Math.random()}`, name: 'issues', payload } as never);
  expect(await em.query(`select data from pgboss.job where name = 'mirror'`)).toEqual([{ data: { taskId, recheck } }]);
});
