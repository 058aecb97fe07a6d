import { newId } from '../../../src/db/ids.ts';
import { admitToRun } from '../../../src/runs/directors.ts';
import { park } from '../../../src/runs/waiting/park.ts';
import { advanceSprint } from '../../../src/sprints/advance-sprint.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';

const acme = openAcme();
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A task that bob wrote and put into ada's active sprint, which started it. Only others may approve it. */
async function startedBySprint() {
  const people = await acme.twoPeople();
  const { em, call, own, projectId, agents, task, claimed } = people;
  await task('ada');
  for (const table of ['tasks', 'sprints']) await em.query(`delete from ${table}`);
  const sprint = await call('ada', 'POST', `/projects/${projectId}/sprints`, {
    ...{ name: 'S', startDate: day(0), endDate: day(9) },
  });
  await call('ada', 'POST', `/sprints/${sprint.body.id}/start`);
  const body = { title: 'by bob', owner: agents[0]?.id, repositoryId: own.id, sprintId: sprint.body.id };
  const { id } = (await call('bob', 'POST', `/projects/${projectId}/tasks`, body)).body;
  await advanceSprint(acme.service.app, projectId);
  const { run, journal } = await claimed();
  await journal.once('settings', async () => ({ approve: 'others' }));
  const waits = async (other: Pick<Awaited<ReturnType<typeof claimed>>, 'run' | 'journal'>) => {
    const wait = { id: newId('wait'), reason: 'push' as const, text: 'A change', options: [], seconds: null };
    await other.journal.write((tx) => park(acme.service.app, tx, other.run, wait));
  };
  const approve = (who: 'ada' | 'bob') => call(who, 'POST', `/tasks/${id}/approve`);
  return { ...people, id, run, journal, waits, approve };
}

test('who wrote a task and put it into the active sprint of somebody else cannot approve it', async () => {
  const { id, run, journal, waits, approve } = await startedBySprint();
  expect(run.taskId).toBe(id);
  await waits({ run, journal });
  expect((await approve('bob')).status).toBe(403);
});

// A comment of somebody with write permission makes them a director of the run.
test('who only commented on a task of a sprint did not start it', async () => {
  const { em, own, run, journal, waits, approve } = await startedBySprint();
  const [ada] = await em.query(`select github_id as id, login from users where login = 'ada'`);
  await admitToRun(acme.service.app, { run, task: { repositoryId: own.id }, journal }, [
    { id: Number(ada.id), login: ada.login } as never,
  ]);
  await waits({ run, journal });
  expect((await approve('ada')).status).toBe(200);
});

test('who asked for changes of a waiting run of a sprint may approve it', async () => {
  const { call, id, run, journal, waits, claimed, approve } = await startedBySprint();
  await waits({ run, journal });
  expect((await call('ada', 'POST', `/tasks/${id}/revise`, { text: 'Use another name.' })).status).toBeLessThan(300);
  const again = await claimed();
  expect(again.run.id).toBe(run.id);
  await waits(again);
  expect((await approve('ada')).body.message ?? '').not.toMatch(/You started this task/);
});
