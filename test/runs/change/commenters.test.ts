import { newId } from '../../../src/db/ids.ts';
import { admitToRun } from '../../../src/runs/directors.ts';
import { park } from '../../../src/runs/waiting/park.ts';
import { advanceSprint } from '../../../src/sprints/advance-sprint.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';

const acme = openAcme();
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

// A comment of somebody with write permission makes them a director of the run.
test('who only commented on a task of a sprint did not start it', async () => {
  const { em, call, own, projectId, agents, task, claimed } = await acme.twoPeople();
  await task('ada');
  await em.query('delete from tasks');
  const sprint = await call('ada', 'POST', `/projects/${projectId}/sprints`, {
    ...{ name: 'S', startDate: day(0), endDate: day(9) },
  });
  await call('ada', 'POST', `/sprints/${sprint.body.id}/start`);
  const body = { title: 'by bob', owner: agents[0]?.id, repositoryId: own.id, sprintId: sprint.body.id };
  const { id } = (await call('bob', 'POST', `/projects/${projectId}/tasks`, body)).body;
  await advanceSprint(acme.service.app, projectId);
  const { run, journal } = await claimed();
  await journal.once('settings', async () => ({ approve: 'others' }));
  // What `commentsOf` (conversation/briefing/comments.ts) does with the writers among the authors of comments.
  const [ada] = await em.query(`select github_id as id, login from users where login = 'ada'`);
  await admitToRun(acme.service.app, { run, task: { repositoryId: own.id }, journal }, [
    { id: Number(ada.id), login: ada.login } as never,
  ]);
  const wait = { id: newId('wait'), reason: 'push' as const, text: 'A change', options: [], seconds: null };
  await journal.write((tx) => park(acme.service.app, tx, run, wait));
  const answer = await call('ada', 'POST', `/tasks/${id}/approve`);
  expect(answer.body?.message ?? '').not.toMatch(/You started this task/);
  expect(answer.status).toBe(200);
});

test('who asked for changes of a waiting run of a sprint may approve it', async () => {
  const { em, call, own, projectId, agents, task, claimed } = await acme.twoPeople();
  await task('ada');
  await em.query('delete from tasks');
  await em.query(`delete from sprints`);
  const sprint = await call('ada', 'POST', `/projects/${projectId}/sprints`, {
    ...{ name: 'S2', startDate: day(0), endDate: day(9) },
  });
  await call('ada', 'POST', `/sprints/${sprint.body.id}/start`);
  const body = { title: 'by bob', owner: agents[0]?.id, repositoryId: own.id, sprintId: sprint.body.id };
  const { id } = (await call('bob', 'POST', `/projects/${projectId}/tasks`, body)).body;
  await advanceSprint(acme.service.app, projectId);
  const first = await claimed();
  await first.journal.once('settings', async () => ({ approve: 'others' }));
  const waitFor = (reason: 'plan' | 'push') => ({
    ...{ id: newId('wait'), reason, text: 'A plan', options: [], seconds: null },
  });
  await first.journal.write((tx) => park(acme.service.app, tx, first.run, waitFor('push')));
  const said = await call('ada', 'POST', `/tasks/${id}/revise`, { text: 'Use another name.' });
  expect(said.status).toBeLessThan(300);
  const second = await claimed();
  expect(second.run.id).toBe(first.run.id);
  await second.journal.write((tx) => park(acme.service.app, tx, second.run, waitFor('push')));
  const answer = await call('ada', 'POST', `/tasks/${id}/approve`);
  expect(answer.body?.message ?? '').not.toMatch(/You started this task/);
});
