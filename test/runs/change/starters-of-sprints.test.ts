import { newId } from '../../../src/db/ids.ts';
import { park } from '../../../src/runs/waiting/park.ts';
import { advanceSprint } from '../../../src/sprints/advance-sprint.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';

const acme = openAcme();
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test('who wrote a task and put it into the active sprint of somebody else cannot approve it', async () => {
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
  expect(run.taskId).toBe(id);
  await journal.once('settings', async () => ({ approve: 'others' }));
  const wait = { id: newId('wait'), reason: 'push' as const, text: 'A change', options: [], seconds: null };
  await journal.write((tx) => park(acme.service.app, tx, run, wait));
  // docs/agents.md: "of a run that began by itself, who wrote the task or added it to a sprint" counts as who started it.
  expect((await call('bob', 'POST', `/tasks/${id}/approve`)).status).toBe(403);
});
