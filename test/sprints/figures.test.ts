import fc from 'fast-check';
import { migrations } from '../../migrations/list.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { daysBetween } from '../../src/domain/sprint.ts';
import type { TaskStatus } from '../../src/domain/task.ts';
import { burndownOf, metricsOf, velocityOf } from '../../src/sprints/figures-store.ts';
import { getSprint } from '../../src/sprints/store.ts';
import { createTestDatabase } from '../support/database.ts';
import { isThorough } from '../support/thorough.ts';

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
const dateAt = (minute: number) => at(minute).toISOString().slice(0, 10);
/** Every second minute is a noon or a midnight, so that some things happen at the same time. */
const minutes = fc.oneof(
  fc.integer({ min: -2 * 1440, max: 16 * 1440 }),
  fc.integer({ min: -4, max: 32 }).map((halfDays) => halfDays * 720),
);
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
    startedAfter: minutes,
    endsAfter: fc.option(minutes, { nil: null }),
    now: minutes,
    rows: fc.array(fc.record({ task: fc.integer({ min: 1, max: 6 }), minute: minutes, status }), {
      maxLength: 40,
    }),
  })
  // Nothing is recorded after the end of a sprint or in the future.
  .map((h) => {
    const end = h.endsAfter === null ? h.now : Math.min(h.endsAfter, h.now);
    const endsAfter = h.endsAfter === null ? null : end;
    return { ...h, endsAfter, rows: h.rows.filter((r) => r.minute <= end).sort((a, b) => a.minute - b.minute) };
  });

/** A task enters at the moment the sprint is started. */
const atTheStart: History = {
  ...{ days: 4, startedAfter: 2 * 1440, endsAfter: null, now: 3 * 1440 },
  rows: [{ task: 1, minute: 2 * 1440, status: 'ready' }],
};

let made = 0;
async function store({ days, startedAfter, endsAfter, rows }: History, project = 'p'): Promise<string> {
  const id = `s${++made}`;
  const last = dateAt((days - 1) * 1440);
  const endedAt = endsAfter === null ? null : at(endsAfter);
  await db.manager.query(
    `insert into sprints (id, project_id, name, status, start_date, end_date, started_at, ended_at)
     values ($1, $6, $1, $2, '2026-02-26', $3, $4, $5)`,
    [id, endedAt ? 'completed' : 'planning', last, at(startedAfter), endedAt, project],
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
  for (let day = 0; day < history.days && day * 1440 <= until; day++) {
    const state = stateAt(history, Math.min((day + 1) * 1440 - 1 / 60_000, until));
    const open = [...state.values()].filter((s) => s !== 'done');
    const ideal = history.days === 1 ? 0 : (count * (history.days - 1 - day)) / (history.days - 1);
    points.push({ date: dateAt(day * 1440), ideal, actual: open.length });
  }
  return points;
}

test('metrics and burndown of random histories equal those of a simple, slow computation', async () => {
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
    { numRuns: isThorough ? 2000 : 250, examples: [[atTheStart]] },
  );
});

/** Some tasks that enter at the start; the first ones are done a hundred minutes later, a minute apart. */
const rows = (n: number, done: number): Happened[] =>
  Array.from({ length: n }, (_, i) => ({ task: i, minute: 0, status: 'ready' as const })).concat(
    Array.from({ length: done }, (_, i) => ({ task: i, minute: 100 + i, status: 'done' as never })),
  );
const day = 1440;
/** The same, ten days earlier. */
const shifted = (earlier: Happened[]) => earlier.map((row) => ({ ...row, minute: row.minute - 10 * day }));

describe('the estimate', () => {
  let project: string;
  beforeEach(async () => {
    project = `e${++made}`;
    await db.manager.query(`insert into projects (id, name, slug) values ($1, $1, $1)`, [project]);
  });
  const estimate = async (history: Partial<History> & Pick<History, 'rows' | 'now'>) => {
    const id = await store({ days: 10, startedAfter: 0, endsAfter: null, ...history }, project);
    return (await metricsOf(db.manager, await getSprint(db.manager, id), at(history.now))).estimatedCompletion;
  };

  test('extrapolates the rate since the sprint was started', async () => {
    // Two of eight tasks took two days, so the other six take six more.
    expect(await estimate({ rows: rows(8, 2), now: 2 * day })).toEqual(at(8 * day));
    // The sprint was started a day late, so they took one day.
    const late = rows(8, 2).map((row) => ({ ...row, minute: row.minute + day }));
    expect(await estimate({ rows: late, startedAfter: day, now: 2 * day })).toEqual(at(5 * day));
    // What was done before the start says nothing about the pace.
    expect(await estimate({ rows: rows(8, 2), startedAfter: day, now: 2 * day })).toEqual(at(9 * day));
  });

  test('of a sprint that has not begun counts from its first day on', async () => {
    const earlier = [
      ...rows(4, 0),
      ...rows(4, 4)
        .slice(4)
        .map((row) => ({ ...row, minute: 2 * day })),
    ];
    await store(
      { days: 5, startedAfter: -10 * day, endsAfter: -5 * day, now: -5 * day, rows: shifted(earlier) },
      project,
    );
    const waiting = async (now: number) => {
      const id = await store({ days: 10, startedAfter: 0, endsAfter: null, now, rows: shifted(rows(4, 0)) }, project);
      await db.manager.query('update sprints set started_at = null where id = $1', [id]);
      return (await metricsOf(db.manager, await getSprint(db.manager, id), at(now))).estimatedCompletion;
    };
    // Four tasks took two days, from the first day of the sprint or, when it is late, from now.
    expect(await waiting(-4 * day)).toEqual(at(2 * day));
    expect(await waiting(3 * day)).toEqual(at(5 * day));
  });

  test('is the last completion when all tasks are done, and the last day when there are none', async () => {
    expect(await estimate({ rows: rows(2, 2), now: 2 * day })).toEqual(at(101));
    expect(await estimate({ rows: [], now: 2 * day })).toEqual(at(9 * day));
  });

  test('is the last day or now, whichever is later, when nothing was ever completed', async () => {
    expect(await estimate({ rows: rows(8, 0), now: 2 * day })).toEqual(at(9 * day));
    expect(await estimate({ rows: rows(8, 0), now: 12 * day })).toEqual(at(12 * day));
  });

  test('uses completed sprints before, until their last task was done', async () => {
    const earlier = [
      ...rows(4, 0),
      ...[0, 1, 2, 3].map((task) => ({ task, minute: (task + 1) * 0.5 * day, status: 'done' as const })),
    ];
    // Four tasks in two days. The sprint stayed open for three more.
    await store({ days: 5, startedAfter: 0, endsAfter: 5 * day, now: 5 * day, rows: earlier }, project);
    const current = rows(3, 0).map((row) => ({ ...row, minute: 6 * day }));
    const begun = { rows: current, startedAfter: 6 * day };
    expect(await estimate({ ...begun, now: 6 * day })).toEqual(at(7.5 * day));
    // Two days of this sprint without a completion make the pace slower: four tasks in four days.
    expect(await estimate({ ...begun, now: 8 * day })).toEqual(at(11 * day));
  });

  test('is never in the past while work remains, however quickly the first tasks were done', async () => {
    for (const now of [0, 1, 100, 20 * day])
      for (const done of [0, 1])
        expect((await estimate({ rows: rows(3, done), now })).getTime()).toBeGreaterThanOrEqual(at(now).getTime());
  });
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
