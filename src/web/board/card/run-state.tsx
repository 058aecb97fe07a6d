import { ClockIcon, DotFillIcon, PauseIcon } from '@primer/octicons-react';
import { Label } from '@primer/react';
import type { CardRun } from '../../api.ts';
import { clockText, elapsedOf } from '../../display/formats.ts';
import { inboxNames } from '../../display/names.ts';
import { useNow } from '../../display/times.tsx';

/** Shows whether the run of a task is running, queued or waiting, and for how long it has worked or been queued. */
export function RunState({ run }: { run: CardRun | null }) {
  switch (run?.status) {
    case 'running':
      return (
        <Label variant="attention" title="An agent is working on this task">
          <DotFillIcon size={12} /> Running <Elapsed run={run} />
        </Label>
      );
    case 'queued':
      return (
        <Label variant="secondary" title="The run starts when an agent is free">
          <ClockIcon size={12} /> Queued <Elapsed run={run} />
        </Label>
      );
    case 'waiting':
      return (
        <Label variant="sponsors" title="The time that a run waits is not counted">
          <PauseIcon size={12} /> {waitName(run.waitReason)} <Elapsed run={run} />
        </Label>
      );
    default:
      return null;
  }
}

function waitName(reason: CardRun['waitReason']): string {
  return reason === null || reason === 'model' ? 'Waiting for the model' : inboxNames[reason];
}

function Elapsed({ run }: { run: CardRun }) {
  const now = useNow(1000);
  return <span className="clock">{clockText(elapsedOf(run, now))}</span>;
}
