import { openWorkshop, type Workshop } from '../support/audit/workshop.ts';

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  await shop.sql('update repositories set default_branch = $1', ['main']);
});
afterAll(() => shop.close());

interface Quote {
  costUsd: { p50: number; p80: number } | null;
  minutes: { p50: number; p80: number } | null;
  mergedUnchanged: { of: number; n: number } | null;
  similar: string[];
  reason: string | null;
}
const quoteOf = (task: string) => shop.ask<Quote>('GET', `/tasks/${task}/quote`);

/** Ends a task after one run of this many minutes and dollars. */
async function finish(task: string, minutes: number, costUsd: number): Promise<void> {
  await shop.sql(
    `insert into runs (id, task_id, project_id, kind, status, steps, cost_usd, started_at, finished_at)
     values ('run_of_' || $1, $1, $2, 'start', 'succeeded', 3, $4, now() - make_interval(mins => $3), now())`,
    [task, shop.project, minutes, costUsd],
  );
  await shop.sql(`update tasks set status = 'done', done_at = now() where id = $1`, [task]);
}

test('too few finished tasks give no quote; nine do', async () => {
  const task = await shop.newTask();
  expect(await quoteOf(task)).toMatchObject({ costUsd: null, minutes: null, similar: [] });
  expect((await quoteOf(task)).reason).toMatch(/A quote needs 9 finished tasks\.$/);
  for (let i = 1; i <= 9; i++) await finish(await shop.newTask(), i, i / 10);
  const quote = await quoteOf(task);
  expect(quote.costUsd).toEqual({ p50: 0.5, p80: 0.8 });
  expect(quote.minutes?.p50).toBeCloseTo(5, 2);
  expect(quote.minutes?.p80).toBeCloseTo(8, 2);
  expect(quote.mergedUnchanged).toEqual({ of: 9, n: 0 });
  expect(quote.similar).toHaveLength(9);
  expect(quote.reason).toBeNull();
});

test('the quote of a start is kept, and the page says later how good it was', async () => {
  const task = await shop.newTask();
  await shop.ask('POST', `/tasks/${task}/start`);
  const path = `/projects/${shop.project}/quotes`;
  expect(await shop.ask('GET', path)).toMatchObject({ costUsd: { of: 0 }, quotes: [] });
  await shop.sql(
    `update runs set status = 'succeeded', started_at = now() - interval '6 minutes', finished_at = now(), cost_usd = 0.6
     where task_id = $1`,
    [task],
  );
  await shop.sql(`update tasks set status = 'done', done_at = now() where id = $1`, [task]);
  expect(await shop.ask('GET', path)).toMatchObject({
    costUsd: { of: 1, p50: 0, p80: 1 },
    minutes: { of: 1, p50: 0, p80: 1 },
    quotes: [{ taskId: task, costUsd: 0.6, costP50: 0.5, costP80: 0.8 }],
  });
  expect(await shop.ask('GET', `${path}?offset=1`)).toMatchObject({ costUsd: { of: 1 }, quotes: [] });
});

test('an undo has no quote', async () => {
  const { id } = await shop.ask<{ id: string }>('POST', `/tasks/${await shop.mergedTask()}/undo`);
  expect(await quoteOf(id)).toMatchObject({ costUsd: null, reason: expect.stringMatching(/^An undo asks no model/) });
});
