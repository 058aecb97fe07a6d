import { verbs } from '../../../src/github/commands/verbs.ts';
import { registerWebhooks } from '../../../src/github/inbox/events.ts';
import { jobs } from '../../../src/jobs.ts';
import { eventPlays } from '../../support/stage/event-plays.ts';
import { jobPlays } from '../../support/stage/job-plays.ts';
import { failEach } from '../../support/stage/middle.ts';
import { commandPlays, type Play, planPlays } from '../../support/stage/plays.ts';
import { openStage, type Stage } from '../../support/stage/stage.ts';

// One row of in-the-middle.long.test.ts, which tries all of them.

test('each event, command and job has a play', () => {
  const events: string[] = [];
  registerWebhooks({ on: (names: string | string[]) => events.push(...[names].flat()) } as never, {} as never);
  expect(Object.keys(eventPlays).sort()).toEqual([...new Set(events)].sort());
  expect(Object.keys(commandPlays).sort()).toEqual(Object.keys(verbs).sort());
  const aboutPlans = Object.keys(verbs).filter((name) => name !== 'plan' && verbs[name]?.locksPlan);
  expect(aboutPlans.filter((name) => !(name in planPlays))).toEqual([]);
  expect(Object.keys(jobPlays).sort()).toEqual(Object.keys(jobs).sort());
});

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

test('each call to GitHub of the job that mirrors a task fails once, and in the end nothing is lost or twice', async () => {
  expect(await failEach(async () => stage, jobPlays.mirror as Play)).toEqual([]);
});
