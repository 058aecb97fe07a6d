import { ageText } from '../../display/formats.ts';
import { exactTime, useNow } from '../../display/times.tsx';

/** Shows how old a task is, with the exact time on hover. */
export function Age({ at }: { at: string }) {
  const now = useNow(60_000);
  return (
    <time dateTime={at} title={`Created ${exactTime(at)}`}>
      {ageText(now - Date.parse(at))}
    </time>
  );
}
