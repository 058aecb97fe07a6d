import { openAcme } from '../../support/stand-ins/acme.ts';

const acme = openAcme();

test.each([
  'publicized',
  'privatized',
])('when a repository is %s, what GitHub shows of its tasks is written again at once', async (action) => {
  const { em, own, task } = await acme.twoPeople();
  const taskId = await task('ada');
  await em.query(`insert into mirrored (task_id, repository_id, number) values ($1, $2, 5) on conflict do nothing`, [
    taskId,
    own.id,
  ]);
  await em.query(`delete from pgboss.job where name = 'mirror'`);
  const payload = {
    action,
    installation: { id: 1 },
    repository: { id: 1, full_name: 'acme/app', name: 'app', owner: { login: 'acme' }, default_branch: 'main' },
    sender: { id: 1, login: 'ada', type: 'User' },
  };
  await acme.service.app.github?.receive({ id: action, name: 'repository', payload } as never);
  const jobs = await em.query(`select data->>'taskId' as "taskId" from pgboss.job where name = 'mirror'`);
  expect(jobs).toEqual([{ taskId }]);
});
