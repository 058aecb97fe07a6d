import { useEffect, useState } from 'react';
import { formatDuration } from '../display/duration.ts';

/** Shows the time since a point in time, every second. */
export function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="clock">{formatDuration(since, new Date(Math.max(now, Date.parse(since))).toISOString())}</span>
  );
}
