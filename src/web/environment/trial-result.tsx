import { Button, Flash, Label } from '@primer/react';
import { useEffect, useRef, useState } from 'react';
import type { EnvironmentTrial } from '../api.ts';
import { formatDuration, formatNumber, plural } from '../display/formats.ts';
import { revealHidden, terminalText } from '../display/hidden-characters.ts';
import { sentenceCase } from '../display/names.ts';
import { FactList, Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { copy } from '../frame/notices.tsx';
import { outcomeOf, verdictOf } from './trial-texts.ts';

const statusVariants = { running: 'attention', ready: 'success', failed: 'danger' } as const;
const verdictVariants = { running: 'default', ready: 'success', failed: 'danger' } as const;

/** Shows the last trial of a repository's environment, also while it runs. */
export function TrialResult({ trial }: { trial: EnvironmentTrial }) {
  const { status, startedAt, finishedAt, image, commands, tried, unknown, unchecked, refusedHosts } = trial;
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
      {commands.length + tried.length > 0 && <CommandList trial={trial} />}
      {unknown.length > 0 && (
        <p className="muted wrap">
          Set-up does not install what these files name: {unknown.map(revealHidden).join(', ')}. List all commands that
          are needed under <code>setup</code> in .deckhand.yml.
        </p>
      )}
      {unchecked.length > 0 && (
        <p className="muted wrap">
          No usual check was found in these folders: {unchecked.map(revealHidden).join(', ')}. List yours under{' '}
          <code>checks</code> in .deckhand.yml.
        </p>
      )}
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

type Command = EnvironmentTrial['commands'][number];

/** Shows the commands of a trial with their results. The output of the running one and of failed ones is open. */
function CommandList({ trial: { status, commands, setupCommands, tried } }: { trial: EnvironmentTrial }) {
  const kindOf = (at: number) => (at < setupCommands ? 'Set-up' : at < commands.length ? 'Check' : 'Tried');
  return (
    <Section title="Commands">
      <ol className="list plain-list" aria-label="Commands">
        {[...commands, ...tried].map((command, at) => (
          <CommandItem
            // biome-ignore lint/suspicious/noArrayIndexKey: commands never move, and one may occur twice
            key={at}
            at={at}
            command={command}
            kind={kindOf(at)}
            isRunning={status === 'running'}
          />
        ))}
      </ol>
      <p className="muted small">Only the end of long output is kept.</p>
    </Section>
  );
}

function CommandItem(props: { at: number; command: Command; kind: string; isRunning: boolean }) {
  const { at, command, kind, isRunning } = props;
  const { exitCode, seconds, output } = command;
  const isUnfinished = isRunning && exitCode === null;
  return (
    <li className="list-item">
      <Label>{kind}</Label>
      <code className="wrap">{revealHidden(command.command)}</code>
      <span className="grow" />
      <Label variant={variantOf(exitCode, isRunning)}>{outcomeOf(command, isRunning)}</Label>
      {!isUnfinished && <span className="muted">{formatNumber(seconds)} s</span>}
      {output === '' ? (
        <p className="muted small">{isUnfinished ? 'No output yet' : 'No output'}</p>
      ) : (
        <details className="full-width" open={exitCode !== 0}>
          <summary>Output</summary>
          <TextBox text={terminalText(output)} label={`Output of command ${at + 1}`} follows />
        </details>
      )}
    </li>
  );
}

function variantOf(exitCode: number | null, isRunning: boolean) {
  if (exitCode === 0) return 'success';
  return exitCode === null && isRunning ? 'attention' : 'danger';
}

/** Shows the .deckhand.yml with what the trial found, ready to be copied. */
function DraftedSettings({ trial }: { trial: EnvironmentTrial }) {
  const { draft } = trial;
  if (draft === null) return null;
  return (
    <Section title="Draft of .deckhand.yml">
      <div className="stack">
        <p className="muted">
          The whole file, with what this trial found. Commit it to the default branch, and decide about the new lines
          that begin with #.
        </p>
        <TextBox text={draft} label="Draft" />
        <div>
          <Button onClick={() => copy(draft, 'Draft')}>Copy draft</Button>
        </div>
      </div>
    </Section>
  );
}

/** The box keeps scrolling to new lines while its end is at most this many pixels away. */
const followPixels = 40;

/** Shows text of several lines in a box that scrolls. With `follows` it stays at the end of text that grows. */
function TextBox({ text, label, follows = false }: { text: string; label: string; follows?: boolean }) {
  const element = useRef<HTMLElement>(null);
  const isAtEnd = useRef(follows);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text makes the box longer
  useEffect(() => {
    if (isAtEnd.current && element.current) element.current.scrollTop = element.current.scrollHeight;
  }, [text]);
  return (
    <section
      ref={element}
      className="text-box"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = follows && scrollHeight - scrollTop - clientHeight < followPixels;
      }}
    >
      <pre className="wrap">{text}</pre>
    </section>
  );
}
