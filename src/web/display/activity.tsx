import { DotFillIcon } from '@primer/octicons-react';
import type { Session } from '../api.ts';
import { formatMs } from './formats.ts';
import { useNow } from './times.tsx';
import { doingText, lineText } from './tool-verbs.ts';

/** Says in one line what an agent does now, and for how long: `Runs npm test, 14 s`. */
export function Doing({ activity }: { activity: NonNullable<Session['activity']> }) {
  const text = doingText(activity);
  return (
    <span className="doing" title={text}>
      <DotFillIcon size={12} className="label-icon" />
      <bdi className="doing-text">{text}</bdi>
      <For since={activity.since} />
    </span>
  );
}

function For({ since }: { since: string }) {
  const now = useNow(1000);
  return <span className="doing-time">, {formatMs(now - Date.parse(since))}</span>;
}

/** Shows the last lines of the log of a run. */
export function LastLines({ lines }: { lines: Session['lines'] }) {
  if (lines.length === 0) return null;
  return (
    <ol className="last-lines" aria-label="Last lines of the log">
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines move up, and have no ids
        <li key={i}>
          <bdi>{lineText(line)}</bdi>
        </li>
      ))}
    </ol>
  );
}
