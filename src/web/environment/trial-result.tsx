import { Flash, Label } from '@primer/react';
import { useEffect, useState } from 'react';
import type { EnvironmentTrial } from '../api.ts';
import { formatDuration, plural } from '../display/formats.ts';
import { revealHidden } from '../display/hidden-characters.ts';
import { sentenceCase } from '../display/names.ts';
import { FactList, Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { CommandList } from './command-list.tsx';
import { DraftedSettings } from './drafted-settings.tsx';
import { verdictOf } from './verdict.ts';

const statusVariants = { running: 'attention', ready: 'success', failed: 'danger' } as const;
const verdictVariants = { running: 'default', ready: 'success', failed: 'danger' } as const;

/** Shows the last trial of a repository's environment, also while it runs. */
export function TrialResult({ trial }: { trial: EnvironmentTrial }) {
  const { status, startedAt, finishedAt, image, commands, refusedHosts } = trial;
  return (
    <>
      <Section title="Last trial">
        <Flash variant={verdictVariants[status]} role="status" className="full-width wrap">
          {verdictOf(trial)}
        </Flash>
        <FactList
          facts={{
            Status: <Label variant={statusVariants[status]}>{sentenceCase(status)}</Label>,
            Started: <TimeAgo at={startedAt} />,
            [finishedAt === null ? 'Elapsed' : 'Duration']:
              finishedAt === null ? <Elapsed since={startedAt} /> : formatDuration(startedAt, finishedAt),
            Image: <span className="wrap">{image === null ? "The worker's own system" : revealHidden(image)}</span>,
          }}
        />
      </Section>
      {commands.length > 0 && <CommandList trial={trial} />}
      {refusedHosts.length > 0 && <RefusedHosts hosts={refusedHosts} />}
      {status !== 'running' && <DraftedSettings trial={trial} />}
    </>
  );
}

/** Shows the time since a point in time, every second. */
function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(() => new Date().toISOString());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date().toISOString()), 1000);
    return () => clearInterval(timer);
  }, []);
  return formatDuration(since, now);
}

function RefusedHosts({ hosts }: { hosts: EnvironmentTrial['refusedHosts'] }) {
  return (
    <Section title="Refused hosts">
      <div className="stack">
        <p className="muted">Commands tried to reach these hosts, which the environment does not allow.</p>
        <ul className="list" aria-label="Refused hosts">
          {hosts.map(({ host, times }) => (
            <li key={host} className="list-item">
              <span className="wrap strong">{revealHidden(host)}</span>
              <span className="muted">{plural(times, 'time')}</span>
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}
