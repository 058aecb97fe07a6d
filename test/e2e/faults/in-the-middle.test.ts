import { verbs } from '../../../src/github/commands/verbs.ts';
import { registerWebhooks } from '../../../src/github/inbox/events.ts';
import { jobs } from '../../../src/jobs.ts';
import { eventPlays } from '../../support/stage/event-plays.ts';
import { jobPlays } from '../../support/stage/job-plays.ts';
import { commandPlays, planPlays } from '../../support/stage/plays.ts';

// in-the-middle.long.test.ts plays them, and each call of theirs to GitHub fails once.

test('each event, command and job has a play', () => {
  const events: string[] = [];
  registerWebhooks({ on: (names: string | string[]) => events.push(...[names].flat()) } as never, {} as never);
  expect(Object.keys(eventPlays).sort()).toEqual([...new Set(events)].sort());
  expect(Object.keys(commandPlays).sort()).toEqual(Object.keys(verbs).sort());
  const aboutPlans = Object.keys(verbs).filter((name) => name !== 'plan' && verbs[name]?.locksPlan);
  expect(aboutPlans.filter((name) => !(name in planPlays))).toEqual([]);
  expect(Object.keys(jobPlays).sort()).toEqual(Object.keys(jobs).sort());
});
