import { Label } from '@primer/react';
import type { EnvironmentTrial } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { revealHidden, terminalText } from '../display/hidden-characters.ts';
import { Section } from '../display/sections.tsx';
import { TextBox } from './text-box.tsx';
import { outcomeOf } from './verdict.ts';

type Command = EnvironmentTrial['commands'][number];

/** Shows the commands of a trial with their results. The output of the running one and of failed ones is open. */
export function CommandList({ trial: { status, commands, setupCommands } }: { trial: EnvironmentTrial }) {
  return (
    <Section title="Commands">
      <ol className="list plain-list" aria-label="Commands">
        {commands.map((command, at) => (
          <CommandItem
            // biome-ignore lint/suspicious/noArrayIndexKey: commands never move, and one may occur twice
            key={at}
            at={at}
            command={command}
            isCheck={at >= setupCommands}
            isRunning={status === 'running'}
          />
        ))}
      </ol>
      <p className="muted small">Only the end of long output is kept.</p>
    </Section>
  );
}

function CommandItem(props: { at: number; command: Command; isCheck: boolean; isRunning: boolean }) {
  const { at, command, isCheck, isRunning } = props;
  const { exitCode, seconds, output } = command;
  const isUnfinished = isRunning && exitCode === null;
  return (
    <li className="list-item">
      <Label>{isCheck ? 'Check' : 'Set-up'}</Label>
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
