import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();

test.each([
  ['edited', false],
  ['closed', true],
])('whoever wrote an issue may edit it often, so what we show there is read again only when it is %s: %s', async (action, recheck) => {
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
