import { rehearseAutomation } from '../../src/automations/rehearsal.ts';
import { scheduleOfCron } from '../../src/automations/times.ts';

// Anybody with a project may ask for the times of a schedule, which are computed in the process that serves requests.

const { formatToParts } = Intl.DateTimeFormat.prototype;
/** How often local times were asked of Intl, which takes nearly all of the time. */
let asked = 0;
beforeEach(() => {
  asked = 0;
  Intl.DateTimeFormat.prototype.formatToParts = function (...given) {
    asked += 1;
    return formatToParts.apply(this, given);
  };
});
afterEach(() => {
  Intl.DateTimeFormat.prototype.formatToParts = formatToParts;
});

test('the next time of a day on which clocks change takes as little as that of any other day', () => {
  const schedule = scheduleOfCron('* * 0-22 * * *', 'Europe/Berlin');
  expect(schedule.next(new Date('2026-10-20T12:00:00Z'))).toEqual(new Date('2026-10-20T12:00:01Z'));
  expect(asked).toBeLessThan(100);
  asked = 0;
  expect(schedule.next(new Date('2026-10-25T12:00:00Z'))).toEqual(new Date('2026-10-25T12:00:01Z'));
  expect(asked).toBeLessThan(100);
});

test('a trial lets others have their turn while it computes the times of such a day', async () => {
  let [turns, most] = [0, 0];
  const watch = setInterval(() => {
    turns += 1;
    most = Math.max(most, asked);
    asked = 0;
  }, 0);
  // A week later. These are four times; with all hours they are 2,000, and nobody has a turn for minutes.
  const on = { cron: '* * 9-11 25 10 *', timezone: 'Europe/Berlin' };
  await rehearseAutomation({} as never, 'proj_1', on as never, new Date('2026-11-01T10:59:55Z'));
  clearInterval(watch);
  expect(turns).toBeGreaterThan(0);
  expect(Math.max(most, asked)).toBeLessThan(5000);
});
