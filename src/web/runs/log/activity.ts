import type { Attention, Run } from '../../api.ts';
import { waitNames } from '../../display/names.ts';
import type { Timeline } from './timeline.ts';

/** What a run is doing now. */
export interface Activity {
  text: string;
  /** When it began. */
  since: string;
}

/** What the newest entry of the log says about a run between its turns. */
const phases: Record<string, string> = {
  setup: 'Setting up the environment…',
  check: 'Running the checks…',
  proof: 'Publishing the change…',
  push: 'Publishing the change…',
  pull: 'Finishing…',
};

/** Returns what an unfinished run is doing; undefined when it has ended. */
export function activityOf(
  run: Pick<Run, 'status' | 'createdAt' | 'startedAt'>,
  attention: Pick<Attention, 'reason' | 'since'> | null,
  timeline: Pick<Timeline, 'current' | 'events' | 'turns'>,
): Activity | undefined {
  switch (run.status) {
    case 'queued':
      return { text: 'Waiting to start', since: run.createdAt };
    case 'waiting':
      return attention === null
        ? { text: 'Waiting', since: run.createdAt }
        : { text: waitNames[attention.reason], since: attention.since };
    case 'running':
      return { text: workText(timeline), since: lastChange(timeline) ?? run.startedAt ?? run.createdAt };
    default:
      return undefined;
  }
}

function workText(timeline: Pick<Timeline, 'current' | 'events'>): string {
  const current = timeline.current();
  const newest = timeline.events().at(-1);
  // Checks may run while the agent's call of `finish` has no result yet.
  if (newest !== undefined && Object.hasOwn(phases, newest.type)) return phases[newest.type] ?? '';
  if (current?.isWriting) return 'Writing…';
  if (current?.call !== undefined)
    return current.call.name === 'finish' ? 'Checking the result…' : `Running ${current.call.name}…`;
  const hasBegun = timeline.events().some(({ type }) => type === 'loop' || type === 'model');
  return hasBegun ? 'Thinking…' : 'Preparing the workspace…';
}

/** Returns the later of the newest entry and the newest turn. */
function lastChange({ events, turns }: Pick<Timeline, 'events' | 'turns'>): string | undefined {
  const times = [events().at(-1)?.at, turns().at(-1)?.at].filter((at) => at !== undefined);
  return times.sort().at(-1);
}
