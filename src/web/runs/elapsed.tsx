import { formatDuration } from '../display/formats.ts';
import { useNow } from '../display/times.tsx';

/** Shows the time since a point in time, every second. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow(1000);
  return <span className="clock">{formatDuration(since, new Date(now).toISOString())}</span>;
}
