import { openLiveRuns } from '../../src/runs/live-runs.ts';
import { startRunClock } from '../../src/worker/lease/run-clock.ts';

test('a run that this process claimed a second time keeps its newer controller', () => {
  const live = openLiveRuns();
  const [first, second] = [live.hold('run_x'), live.hold('run_x')];
  live.letGo('run_x', first);
  live.abort('run_x');
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
  live.letGo('run_x', second);
  const third = live.hold('run_y');
  live.letGo('run_y', third);
  live.abort('run_y');
  expect(third.signal.aborted).toBe(false);
});

describe('the clock of a run', () => {
  const minute = 60_000;
  const limit = (value: number) => ({ value, setBy: 'service' as const });
  const left = (endsAt: number) => Math.round((endsAt - performance.now()) / minute);

  test('counts from the first start, but leaves at least five minutes to open the repository', () => {
    const clock = startRunClock(10 * minute);
    expect(clock.endsAt()).toBe(Number.POSITIVE_INFINITY);
    clock.open(limit(30));
    expect(left(clock.endsAt())).toBe(20);
    clock.open(limit(12));
    expect(left(clock.endsAt())).toBe(5);
    clock.work(limit(12));
    expect(left(clock.endsAt())).toBe(2);
    clock.stop();
  });

  test('ends the work when the time is up, and never for a limit longer than a timer can be', async () => {
    const [short, long] = [startRunClock(10 * minute), startRunClock(0)];
    long.work(limit(100_000));
    short.work(limit(9));
    await new Promise((resolve) => short.working.addEventListener('abort', resolve));
    expect(short.working.reason.failure).toMatchObject({
      category: 'timeout',
      message: expect.stringMatching(/^the run took longer than its 9 minutes \(/),
    });
    expect([short.opening.aborted, long.working.aborted]).toEqual([false, false]);
    long.stop();
    const stopped = startRunClock(10 * minute);
    stopped.work(limit(9));
    stopped.stop();
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(stopped.working.aborted).toBe(false);
  });
});
