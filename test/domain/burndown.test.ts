import { burndown, estimatedCompletion, withBand } from '../../src/domain/sprint.ts';

const line = { count: 8, startDate: '2026-03-02', endDate: '2026-03-06' };
const hour = 3_600_000;

test('the ideal line falls evenly from the first day to the last one, and stays at 0', () => {
  const dates = ['2026-03-02', '2026-03-03', '2026-03-05', '2026-03-06', '2026-03-09'];
  const days = burndown(
    dates.map((date, i) => ({ date, actual: i })),
    line,
  );
  expect(days).toEqual([8, 6, 2, 0, 0].map((ideal, i) => ({ date: dates[i], ideal, actual: i })));
});

test('a sprint of one day has an ideal of 0, one of two days all tasks on the first', () => {
  const ideal = (endDate: string) =>
    burndown([{ date: '2026-03-02', actual: 1 }], { ...line, endDate }).map((day) => day.ideal);
  expect([ideal('2026-03-02'), ideal('2026-03-03')]).toEqual([[0], [8]]);
});

test('the band is the count on past days, opens today, and goes on without counts', () => {
  const days = [
    { date: '2026-03-03', ideal: 6, actual: 7 },
    { date: '2026-03-04', ideal: 4, actual: 5 },
  ];
  const ahead = [
    { date: '2026-03-04', low: 3, high: 6 },
    { date: '2026-03-05', low: 1, high: 4 },
  ];
  expect(withBand(days, ahead, line)).toEqual([
    { date: '2026-03-03', ideal: 6, actual: 7, low: 7, high: 7 },
    { date: '2026-03-04', ideal: 4, actual: 5, low: 3, high: 5 },
    { date: '2026-03-05', ideal: 2, actual: null, low: 1, high: 4 },
  ]);
  // More may have been added since the forecast, but the band never begins above the count.
  expect(withBand(days, [{ date: '2026-03-04', low: 6, high: 6 }], line)[1]).toMatchObject({ low: 5, high: 5 });
  expect(withBand([], ahead, line).map(({ date }) => date)).toEqual(['2026-03-04', '2026-03-05']);
});

const now = new Date('2026-03-04T12:00:00Z');
const progress = {
  total: 10,
  completed: 4,
  lastCompletion: new Date('2026-03-03T08:00:00Z'),
  endDate: '2026-03-06',
  begins: now,
  throughput: [
    { completed: 3, elapsedMs: 20 * hour },
    { completed: 1, elapsedMs: 20 * hour },
    { completed: 0, elapsedMs: -5 * hour },
  ],
};

test('what is left takes as long as it did at the average pace', () => {
  // Four tasks took 40 hours; six are left.
  expect(estimatedCompletion(progress, now)).toEqual(new Date(now.getTime() + 60 * hour));
  const later = new Date('2026-03-05T12:00:00Z');
  expect(estimatedCompletion({ ...progress, begins: later }, now)).toEqual(new Date(later.getTime() + 60 * hour));
  expect(estimatedCompletion({ ...progress, completed: 9 }, now)).toEqual(new Date(now.getTime() + 10 * hour));
});

test('tasks done at once count as an hour of work, and one task is a pace', () => {
  const throughput = [{ completed: 1, elapsedMs: 0 }];
  expect(estimatedCompletion({ ...progress, throughput }, now)).toEqual(new Date(now.getTime() + 6 * hour));
  const hourly = [{ completed: 1, elapsedMs: 2 * hour }];
  expect(estimatedCompletion({ ...progress, throughput: hourly }, now)).toEqual(new Date(now.getTime() + 12 * hour));
  const slow = [{ completed: 1, elapsedMs: Number.MAX_SAFE_INTEGER }];
  expect(estimatedCompletion({ ...progress, throughput: slow }, now)).toEqual(new Date('9999-12-31T23:59:59.999Z'));
});

test('a finished sprint was completed with its last task, and one without a pace ends on its last day or now', () => {
  const done = { ...progress, completed: 10 };
  expect(estimatedCompletion(done, now)).toEqual(progress.lastCompletion);
  expect(estimatedCompletion({ ...done, lastCompletion: null }, now)).toEqual(new Date('2026-03-06'));
  expect(estimatedCompletion({ ...progress, throughput: [] }, now)).toEqual(new Date('2026-03-06'));
  const afterwards = new Date('2026-03-08T12:00:00Z');
  expect(estimatedCompletion({ ...progress, throughput: [] }, afterwards)).toEqual(afterwards);
});
