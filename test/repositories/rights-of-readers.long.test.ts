import { enterRepository, listOpened } from '../../src/runs/directors.ts';
import { endRun } from '../../src/runs/store.ts';
import { getTask } from '../../src/tasks/store.ts';
import { insertHandoff } from '../../src/tasks/work-store.ts';
import { readPlanning } from '../../src/worker/plan.ts';
import { assertMayReadTask, readableHandoffs } from '../../src/worker/session.ts';
import type { Work } from '../../src/worker/work.ts';
import { readingRights } from '../../src/worker/workspace/open-repositories.ts';
import { openAcme } from '../support/stand-ins/acme.ts';
import { writers } from '../support/stand-ins/named-github.ts';

const acme = openAcme();
const { twoPeople } = acme;

test('a run is not told what an earlier run of its task found in a repository that its directors may not open', async () => {
  const { em, call, own, secret, ids, agents, task, claimed } = await twoPeople();
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  const first = await claimed();
  await enterRepository(acme.service.app, first, secret);
  await insertHandoff(em, { taskId: id, runId: first.run.id, summary: 'What secret says.', nextSteps: [] });
  await endRun(em, first.run.id, 'succeeded', null);
  /** Returns what a new run is told that these people direct, and whether it counts as having opened the repository. */
  const told = async (directedBy: string[], taskId = id) => {
    await em.query(`update tasks set status = 'ready' where id = $1`, [taskId]);
    await call('ada', 'POST', `/tasks/${taskId}/start`);
    const { run, journal } = await claimed();
    await em.query('update runs set directed_by = $2 where id = $1', [run.id, JSON.stringify(directedBy)]);
    const mayRead = readingRights(acme.service.app, { run, journal, repository: own });
    const given = { task: await getTask(em, taskId), run: { directedBy } };
    const { handoffs, related } = await readableHandoffs(acme.service.app, given, mayRead);
    await endRun(em, run.id, 'succeeded', null);
    const summaries = [...handoffs, ...related].map(({ summary }) => summary);
    expect(await listOpened(em, run.id, own.id)).toEqual(summaries.length > 0 ? [secret.id] : []);
    return summaries;
  };
  expect(await told([ids.ada])).toEqual(['What secret says.']);
  expect(await told([ids.ada, ids.bob])).toEqual([]);
  const { body: next } = await call('ada', 'POST', `/projects/${own.projectId}/tasks`, {
    title: 'next',
    owner: agents[0]?.id,
    repositoryId: own.id,
  });
  await em.query('insert into task_dependencies (task_id, depends_on_id) values ($1, $2)', [next.id, id]);
  await em.query(`update tasks set status = 'done' where id = $1`, [id]);
  expect(await told([ids.ada], next.id)).toEqual(['What secret says.']);
  expect(await told([ids.ada, ids.bob], next.id)).toEqual([]);
  writers.delete('400 2');
  expect(await told([ids.ada])).toEqual([]);
});

test('a plan and the text of a subtask count as what their run had opened', async () => {
  const { em, call, own, secret, ids, task, claimed } = await twoPeople();
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  const first = await claimed();
  await enterRepository(acme.service.app, first, secret);
  await em.query(
    `insert into plans (id, task_id, run_id, markdown, files, checks, approved_at)
     values ('wait_1', $1, $2, 'What secret says.', '[]', '[]', now())`,
    [id, first.run.id],
  );
  await endRun(em, first.run.id, 'succeeded', null);
  await em.query(`update tasks set status = 'ready' where id = $1`, [id]);
  await call('ada', 'POST', `/tasks/${id}/start`);
  const { run, journal } = await claimed();
  const rights = () => readingRights(acme.service.app, { run, journal, repository: own });
  const planned = async () =>
    (await readPlanning(em, { run, task: await getTask(em, id), settings: {} } as Work, rights())).approved?.markdown;
  const subtask = { ...(await getTask(em, id)), parentId: id, createdBy: null };
  const read = () => assertMayReadTask(acme.service.app, subtask, rights());
  expect(await planned()).toBe('What secret says.');
  await expect(read()).resolves.toBeUndefined();
  await em.query('delete from run_steps where run_id = $1', [run.id]);
  await em.query('update runs set directed_by = $2 where id = $1', [run.id, JSON.stringify([ids.ada, ids.bob])]);
  expect(await planned()).toBeUndefined();
  await expect(read()).rejects.toThrow('the text of this subtask comes from a run that had opened other repositories');
  // What a person wrote themselves is not the model's.
  await expect(
    assertMayReadTask(acme.service.app, { ...subtask, createdBy: ids.bob }, rights()),
  ).resolves.toBeUndefined();
});
