import fc from 'fast-check';
import { migrations } from '../../migrations/list.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { daysBetween } from '../../src/domain/burndown.ts';
import type { TaskStatus } from '../../src/domain/task.ts';
import { burndownOf, metricsOf, velocityOf } from '../../src/sprints/figures-store.ts';
import { getSprint } from '../../src/sprints/store.ts';
import { createTestDatabase } from '../support/database.ts';

let db: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  db = await openDatabase(database.url, migrations);
  await db.manager.query(`insert into projects (id, name, slug) values ('p', 'p', 'p')`);
});
afterAll(async () => {
  await db.close();
  await drop();
});

/** One row of the history: the status of a task at a minute after the first day began; null when it left the sprint. */
interface Happened {
  task: number;
  minute: number;
  status: TaskStatus | null;
}
interface History {
  days: number;
  startedAfter: number;
  endsAfter: number | null;
  now: number;
  rows: Happened[];
}

const first = Date.parse('2026-02-26T00:00:00Z');
const at = (minute: number) => new Date(first + minute * 60_000);
const minutes = { min: -2 * 1440, max: 16 * 1440 };
const status = fc.constantFrom<TaskStatus | null>(
  'backlog',
  'ready',
  'in_progress',
  'in_review',
  'waiting_on_subtasks',
  'done',
  'done',
  null,
);
const histories = fc
  .record({
    days: fc.integer({ min: 1, max: 14 }),
    startedAfter: fc.integer(minutes),
    endsAfter: fc.option(fc.integer(minutes), { nil: null }),
    now: fc.integer(minutes),
    rows: fc.array(fc.record({ task: fc.integer({ min: 1, max: 6 }), minute: fc.integer(minutes), status }), {
      maxLength: 40,
    }),
  })
  // Nothing is recorded after the end of a sprint or in the future.
  .map((h) => {
    const end = h.endsAfter === null ? h.now : Math.min(h.endsAfter, h.now);
    const endsAfter = h.endsAfter === null ? null : end;
    return { ...h, endsAfter, rows: h.rows.filter((r) => r.minute <= end).sort((a, b) => a.minute - b.minute) };
  });

let made = 0;
async function store({ days, startedAfter, endsAfter, rows }: History): Promise<string> {
  const id = `s${++made}`;
  const last = new Date(first + (days - 1) * 86_400_000).toISOString().slice(0, 10);
  await db.manager.query(
    `insert into sprints (id, project_id, name, status, start_date, end_date, started_at, ended_at)
     values ($1, 'p', $1, $2, '2026-02-26', $3, $4, $5)`,
    [
      id,
      endsAfter === null ? 'planning' : 'completed',
      last,
      at(startedAfter),
      endsAfter === null ? null : at(endsAfter),
    ],
  );
  await db.manager.query(
    `insert into sprint_history (sprint_id, task_id, status, at)
     select $1, * from unnest($2::text[], $3::text[], $4::timestamptz[])`,
    [id, rows.map((row) => `t${row.task}`), rows.map((row) => row.status), rows.map((row) => at(row.minute))],
  );
  return id;
}

/** Returns the status of each task at a minute, computed in a simple, slow way for comparison. */
function stateAt({ rows }: History, minute: number): Map<number, TaskStatus> {
  const state = new Map<number, TaskStatus>();
  for (const row of rows) {
    if (row.minute > minute) break;
    if (row.status === null) state.delete(row.task);
    else state.set(row.task, row.status);
  }
  return state;
}

function obviousBurndown(history: History) {
  const until = Math.min(history.endsAfter ?? history.now, history.now);
  const baseline = Math.max(1440 - 1 / 60_000, history.startedAfter);
  const count = stateAt(history, Math.min(baseline, until)).size;
  const points = [];
  for (let day = 0; day < history.days; day++) {
    if (day * 1440 > until) break;
    const open = [...stateAt(history, Math.min((day + 1) * 1440 - 1 / 60_000, until)).values()].filter(
      (s) => s !== 'done',
    );
    const ideal = history.days === 1 ? 0 : (count * (history.days - 1 - day)) / (history.days - 1);
    points.push({
      date: at(day * 1440)
        .toISOString()
        .slice(0, 10),
      ideal,
      actual: open.length,
    });
  }
  return points;
}

test('metrics and burndown of 1,000 random histories equal those of a simple, slow computation', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const sprint = await getSprint(db.manager, await store(history));
      const now = at(history.now);
      const last = stateAt(history, Number.POSITIVE_INFINITY);
      const count = (...of: TaskStatus[]) => [...last.values()].filter((s) => of.includes(s)).length;
      const done = count('done');
      expect(await metricsOf(db.manager, sprint, now)).toEqual({
        totalTasks: last.size,
        completedTasks: done,
        inProgressTasks: count('in_progress', 'in_review', 'waiting_on_subtasks'),
        remainingTasks: last.size - done,
        completionPercentage: last.size === 0 ? 0 : Math.round((done / last.size) * 1000) / 10,
        estimatedCompletion: expect.any(Date),
      });
      expect([sprint.taskCount, sprint.completedCount]).toEqual([last.size, done]);
      expect(await burndownOf(db.manager, sprint, now)).toEqual(obviousBurndown(history));
    }),
    { numRuns: 1000 },
  );
});

test('the estimate extrapolates the rate since the first day', async () => {
  const rows = (n: number, done: number): Happened[] =>
    Array.from({ length: n }, (_, i) => ({
      task: i,
      minute: i < done ? 100 + i : 0,
      status: i < done ? 'done' : 'ready',
    }));
  const estimate = async (n: number, done: number, now: number) => {
    const id = await store({ days: 10, startedAfter: 0, endsAfter: null, now, rows: rows(n, done) });
    return (await metricsOf(db.manager, await getSprint(db.manager, id), at(now))).estimatedCompletion;
  };
  // Two of eight tasks took two days, so the other six take six more.
  expect(await estimate(8, 2, 2880)).toEqual(at(8 * 1440));
  expect(await estimate(8, 0, 2880)).toEqual(at(9 * 1440));
  expect(await estimate(2, 2, 2880)).toEqual(at(101));
  expect(await estimate(0, 0, 2880)).toEqual(at(9 * 1440));
});

test('velocity: the last completed sprints, oldest first', async () => {
  await db.manager.query(`insert into projects (id, name, slug) values ('q', 'q', 'q')`);
  for (const n of [1, 2, 3]) {
    await db.manager.query(
      `insert into sprints (id, project_id, name, status, start_date, end_date, ended_at)
       values ($1, 'q', $1, $2, '2026-01-01', '2026-01-02', $3)`,
      [`v${n}`, n === 2 ? 'cancelled' : 'completed', at(n)],
    );
    for (let i = 0; i < n; i++)
      await db.manager.query(`insert into sprint_history (sprint_id, task_id, status) values ($1, $2, 'done')`, [
        `v${n}`,
        `t${i}`,
      ]);
  }
  expect(await velocityOf(db.manager, 'q', 6)).toEqual([
    { sprintId: 'v1', name: 'v1', velocity: 1 },
    { sprintId: 'v3', name: 'v3', velocity: 3 },
  ]);
  expect(await velocityOf(db.manager, 'q', 1)).toEqual([{ sprintId: 'v3', name: 'v3', velocity: 3 }]);
});

test('the days between two dates are counted across leap years', () => {
  expect(daysBetween('2028-02-28', '2028-03-01')).toBe(2);
});
