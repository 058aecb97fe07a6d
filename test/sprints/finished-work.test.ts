import { listFinishedWork } from '../../src/sprints/figures-store.ts';
import { openSprints } from '../support/sprints.ts';

const given = openSprints();
const { call, makeTask, sql } = given;

test('finished work has the time of its runs and the whole time; tasks without a run are left out', async () => {
  const [worked, byHand] = [await makeTask({ title: 'Worked' }), await makeTask({ title: 'By hand' })];
  for (const { id } of [worked, byHand]) await call('PATCH', `/tasks/${id}`, { status: 'done' });
  await sql(`update tasks set done_at = '2026-03-01T12:00:00Z' where project_id = $1`, [given.project]);
  for (const [n, from, to] of [
    [1, '08:00', '09:00'],
    [2, '10:00', '10:30'],
  ])
    await sql(
      `insert into runs (id, task_id, project_id, kind, status, waited_seconds, started_at, finished_at)
       values ($1, $2, $3, 'start', 'succeeded', 600, $4, $5)`,
      [`run_${n}_${given.project}`, worked.id, given.project, `2026-03-01T${from}:00Z`, `2026-03-01T${to}:00Z`],
    );
  expect(await listFinishedWork(given.service.app.db.manager, given.project)).toEqual([
    { id: worked.id, title: 'Worked', repositoryId: null, workMs: 70 * 60_000, totalMs: 4 * 3_600_000 },
  ]);
});
