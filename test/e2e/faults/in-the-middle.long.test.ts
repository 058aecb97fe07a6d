import { eventPlays } from '../../support/stage/event-plays.ts';
import { jobPlays } from '../../support/stage/job-plays.ts';
import { failEach } from '../../support/stage/middle.ts';
import { commandPlays, type Play, planPlays } from '../../support/stage/plays.ts';
import { openStage, type Stage } from '../../support/stage/stage.ts';

// Each call to GitHub fails once, in whatever handles an event, a command or a job. After the retry, or after a person has
// repeated what was refused, all is as without the fault: nothing lost, nothing twice.

/** These read the whole repository, so each play needs one of its own. */
const ofWholeRepository = new Set(['compare', 'redeliver', 'sweep']);

const named = (kind: string, plays: Record<string, Play | string>) =>
  Object.entries(plays).flatMap(([name, play]) => (typeof play === 'string' ? [] : [[kind, name, play] as const]));
const rows = [
  ...named('command', commandPlays),
  ...named('command on a plan', planPlays),
  ...named('event', eventPlays),
  ...named('job', jobPlays),
];

let stage: Stage | undefined;
const close = async () => {
  await stage?.close();
  stage = undefined;
};
const open = async () => {
  stage = await openStage();
  return stage;
};
const openAnother = async () => {
  await close();
  return open();
};
afterEach(close);

test.each(rows)(
  '%s %s',
  async (_kind, name, play) => {
    const only = await open();
    const problems = await failEach(ofWholeRepository.has(name) ? openAnother : async () => only, play);
    expect(problems).toEqual([]);
  },
  3_600_000,
);
