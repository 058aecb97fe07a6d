import { findLastTurn } from '../../src/runs/undoing/store.ts';
import { openWorkshop, type Workshop } from '../support/audit/workshop.ts';

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

interface Task {
  id: string;
  undoOf: string | null;
  status: string;
  title: string;
  repositoryId: string;
}
const undo = (task: string) => shop.ask<Task>('POST', `/tasks/${task}/undo`);
const plan = (task: string) =>
  shop.ask<{ pulls: { number: number }[]; problem: string | null; undoneBy: string | null }>(
    'GET',
    `/tasks/${task}/undo`,
  );

/** Ends an undo: its pull requests are merged, or its run has failed. */
async function end(task: string, status: 'done' | 'ready'): Promise<void> {
  await shop.sql(`update runs set status = 'failed', finished_at = now() where task_id = $1`, [task]);
  await shop.sql('update tasks set status = $2 where id = $1', [task, status]);
}

test('an undo is a task of its own, which starts at once and needs no plan', async () => {
  const task = await shop.mergedTask();
  expect(await plan(task)).toMatchObject({ problem: null, undoneBy: null, pulls: [{ base: 'main' }] });
  const made = await undo(task);
  expect(made).toMatchObject({ undoOf: task, status: 'in_progress', planFirst: false, base: 'main' });
  expect(made.title).toMatch(/^Revert ".+"$/);
  const runs = await shop.ask<object[]>('GET', `/tasks/${made.id}/runs`);
  expect(runs).toMatchObject([{ kind: 'start', status: 'queued' }]);
});

test('a second undo waits for the first, and is refused after it; a failed one may be repeated', async () => {
  const task = await shop.mergedTask();
  const { id } = await undo(task);
  await expect(undo(task)).rejects.toThrow(`409 Task ${id} undoes this one already. Wait for it, or cancel it`);
  await end(id, 'ready');
  const again = await undo(task);
  await end(again.id, 'done');
  await expect(undo(task)).rejects.toThrow(`409 Task ${again.id} has undone this one.`);
  expect(await plan(task)).toMatchObject({ pulls: [], undoneBy: again.id });
});

test('what is undone can be had back by an undo of the undo, and then be undone again', async () => {
  const task = await shop.mergedTask();
  const { id } = await undo(task);
  await shop.sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, merged_at)
     values ($1, $2, 7001, 'https://github.test/7001', 'merged', 'agent/y', $3, now())`,
    [id, shop.repository, 'd'.repeat(40)],
  );
  await end(id, 'done');
  const back = await undo(id);
  expect(back).toMatchObject({ undoOf: id });
  await end(back.id, 'done');
  expect(await undo(task)).toMatchObject({ undoOf: task });
});

test('a task that is not done, or of which nothing was merged, cannot be undone', async () => {
  const { task } = await shop.reviewedTask();
  await expect(undo(task)).rejects.toThrow('409 Only a task that is done can be undone.');
  const bare = await shop.newTask();
  await shop.sql(`update tasks set status = 'done' where id = $1`, [bare]);
  await expect(undo(bare)).rejects.toThrow('409 Nothing of this task was merged');
  expect((await plan(bare)).problem).toMatch(/^Nothing of this task was merged/);
});

test('pull requests of one repository that went into different branches are left to people', async () => {
  const task = await shop.mergedTask();
  await shop.sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, base_branch, merged_at)
     values ($1, $2, 7002, 'https://github.test/7002', 'merged', 'agent/z', $3, 'release', now())`,
    [task, shop.repository, 'd'.repeat(40)],
  );
  await expect(undo(task)).rejects.toThrow(
    /^POST .* 409 One task reverts on one branch of a repository, .*https:\/\/github\.test\/7002/,
  );
});

test('the last turn of a task is where one may try again', async () => {
  const { task, run } = await shop.talkedTask();
  const found = await findLastTurn(shop.service.app.db.manager, task);
  expect(found?.runId).toBe(run);
  expect(found?.turn).toBeGreaterThan(0);
  expect(await findLastTurn(shop.service.app.db.manager, await shop.newTask())).toBeUndefined();
});
