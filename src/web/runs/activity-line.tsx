import { DotFillIcon } from '@primer/octicons-react';
import { Elapsed } from './elapsed.tsx';
import type { Activity } from './log/activity.ts';

/** Says what the run is doing, and for how long. */
export function ActivityLine(props: { activity: Activity | undefined; lostText: string | undefined }) {
  const { activity, lostText } = props;
  return (
    <p className="row muted run-activity">
      {/* The clock shows that the run is alive. A spinner would keep the browser drawing all the time. */}
      {activity !== undefined && lostText === undefined && <DotFillIcon className="state-doing" />}
      <span role="status">{lostText ?? activity?.text ?? 'Run ended'}</span>
      {/* Not part of the status, so that screen readers do not read every second. */}
      {activity !== undefined && lostText === undefined && <Elapsed since={activity.since} />}
    </p>
  );
}
