import { Button, FormControl, Textarea } from '@primer/react';
import { type FormEvent, memo } from 'react';
import type { Task } from '../api.ts';
import { submitOnCtrlEnter } from '../forms/form-dialog.tsx';
import { useDraft } from '../forms/use-draft.ts';
import { actionNames } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/actions/use-confirmed-action.tsx';
import { useRunControls } from '../tasks/waiting/use-run-controls.ts';

/** Lets people write to the agent of an unfinished run, and pause or cancel the run. */
export const Steering = memo(function Steering({ task }: { task: Task }) {
  const { say, pause, isPending } = useRunControls(task);
  const { select, isPending: isStopping, dialog } = useConfirmedAction();
  const isBusy = isPending || isStopping;
  return (
    <div className="run-steering">
      <MessageForm place={`message ${task.id}`} isBusy={isBusy} onSend={say} />
      <div className="row wrap-row">
        {task.attention === null && (
          <Button disabled={isBusy} onClick={pause}>
            Pause run
          </Button>
        )}
        <Button variant="danger" disabled={isBusy} onClick={() => void select(task, 'cancel')}>
          {actionNames.cancel}
        </Button>
      </div>
      {dialog}
    </div>
  );
});

function MessageForm(props: { place: string; isBusy: boolean; onSend(text: string): Promise<unknown> }) {
  const { place, isBusy, onSend } = props;
  const draft = useDraft(place, '');
  const text = draft.value.trim();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The text stays in the field until the service has it.
    if (text !== '' && !isBusy) onSend(text).then(draft.clear, () => {});
  };
  return (
    <form className="row bottom-aligned grow" onSubmit={onSubmit}>
      <FormControl className="grow">
        <FormControl.Label>Message the agent</FormControl.Label>
        <Textarea
          block
          rows={2}
          resize="vertical"
          maxLength={10_000}
          value={draft.value}
          onChange={(event) => draft.set(event.target.value)}
          onKeyDown={submitOnCtrlEnter}
        />
      </FormControl>
      <Button type="submit" disabled={isBusy || text === ''}>
        Send
      </Button>
    </form>
  );
}
