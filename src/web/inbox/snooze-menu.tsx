import { ClockIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, Button, FormControl, TextInput } from '@primer/react';
import { type FormEvent, type RefObject, useRef, useState } from 'react';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import type { TaskEntry } from './outcome.ts';
import { choosableDays, snoozeText, timeOn, usualTimes } from './snooze-times.ts';
import { useEndSnooze, useSnooze } from './use-decision.ts';

/** Leaves an entry out of the inbox for a while. */
export function SnoozeMenu({ entry }: { entry: TaskEntry }) {
  const { snooze, isPending } = useSnooze(entry);
  const [isChoosing, setChoosing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <ActionMenu anchorRef={button}>
        <ActionMenu.Button
          size="small"
          variant="invisible"
          leadingVisual={ClockIcon}
          disabled={isPending}
          aria-label={`Snooze ${entry.title.slice(0, 60)}`}
        >
          Snooze
        </ActionMenu.Button>
        <ActionMenu.Overlay align="end" width="medium">
          <ActionList>
            {usualTimes(new Date()).map(({ name, until }) => (
              <SnoozeItem key={name} name={name} until={until} onSelect={snooze} />
            ))}
            <ActionList.Item onSelect={() => setChoosing(true)}>Choose a day…</ActionList.Item>
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      {isChoosing && (
        <DayDialog
          title={entry.title}
          returnFocusRef={button}
          onChoose={(until) => {
            setChoosing(false);
            snooze(until);
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

/** Says when a snoozed entry returns, and brings it back now. */
export function EndSnooze({ entry, until }: { entry: TaskEntry; until: string }) {
  const end = useEndSnooze(entry);
  return (
    <span className="row">
      <span className="muted small">Until {snoozeText(new Date(until))}</span>
      <Button
        size="small"
        aria-label={`Return to the inbox: ${entry.title.slice(0, 60)}`}
        loading={end.isPending}
        onClick={() => end.mutate()}
      >
        Return to the inbox
      </Button>
    </span>
  );
}

function SnoozeItem(props: { name: string; until: Date; onSelect(until: Date): void }) {
  const { name, until, onSelect } = props;
  return (
    <ActionList.Item onSelect={() => onSelect(until)}>
      {name}
      <ActionList.Description variant="block">{snoozeText(until)}</ActionList.Description>
    </ActionList.Item>
  );
}

function DayDialog(props: {
  title: string;
  returnFocusRef: RefObject<HTMLElement | null>;
  onChoose(until: Date): void;
  onClose(): void;
}) {
  const { title, returnFocusRef, onChoose, onClose } = props;
  const [day, setDay] = useState('');
  const [wasSubmitted, setSubmitted] = useState(false);
  const now = new Date();
  const until = timeOn(day, now);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (until !== undefined) onChoose(until);
  };
  return (
    <FormDialog title="Snooze until" subtitle={title} returnFocusRef={returnFocusRef} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <FormControl required>
          <FormControl.Label>Day</FormControl.Label>
          <TextInput type="date" {...choosableDays(now)} value={day} onChange={({ target }) => setDay(target.value)} />
          <FormControl.Caption>
            {until === undefined ? 'At most 89 days from now.' : `It returns to the inbox ${snoozeText(until)}.`}
          </FormControl.Caption>
          {wasSubmitted && until === undefined && (
            <FormControl.Validation variant="error">Choose a day within the next 89 days.</FormControl.Validation>
          )}
        </FormControl>
        <FormButtons submit="Snooze" onCancel={onClose} />
      </form>
    </FormDialog>
  );
}
