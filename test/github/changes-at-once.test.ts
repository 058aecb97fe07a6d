import { until } from '../../demo/real-service.ts';
import { carryOut } from '../../src/github/commands/verbs.ts';
import { lockTask } from '../../src/tasks/store.ts';
import { commandOf } from '../support/audit/command-recipes.ts';
import { openWorkshop, type Workshop } from '../support/audit/workshop.ts';

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

/** Creates a task with this issue. */
async function newTask(issue: number): Promise<string> {
  const task = await shop.newTask();
  await shop.sql('update tasks set issue_repository_id = $2, issue_number = $3 where id = $1', [
    task,
    shop.repository,
    issue,
  ]);
  return task;
}

/** Gives commands on the task of an issue while somebody else changes the task, so that all of them wait for it. */
async function atOnce(task: string, issue: number, commands: [verb: string, argument: string][]): Promise<void> {
  const { app } = shop.service;
  const given = await Promise.all(commands.map(([verb, argument]) => commandOf(shop, verb, { issue, argument })));
  const acting: Promise<unknown>[] = [];
  await app.db.transaction(async (em) => {
    await lockTask(em, task);
    acting.push(...given.map((command) => carryOut(app, command)));
    await until('all commands to wait', async () => {
      // In its own transaction, because PostgreSQL shows a transaction the same activity each time.
      const [row] = await shop.sql<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return row?.waiting === commands.length;
    });
  });
  await Promise.all(acting);
}

test('two people who set different limits at once both count', async () => {
  const task = await newTask(2001);
  await atOnce(task, 2001, [
    ['budget', '$2'],
    ['budget', 'steps 7'],
  ]);
  const { budget } = await shop.ask<{ budget: object }>('GET', `/tasks/${task}`);
  expect(budget).toEqual({ costUsd: 2, steps: 7 });
});

test('two people who add dependencies at once both count', async () => {
  const others = [await newTask(2003), await newTask(2004)];
  const task = await newTask(2002);
  await atOnce(task, 2002, [
    ['depends', '#2003'],
    ['depends', '#2004'],
  ]);
  const { dependsOn } = await shop.ask<{ dependsOn: string[] }>('GET', `/tasks/${task}`);
  expect(dependsOn).toEqual(others.toSorted());
});
