import { Button, FormControl, Textarea } from '@primer/react';
import { type FormEvent, memo } from 'react';
import * as api from '../api.ts';
import { submitOnCtrlEnter } from '../forms/form-dialog.tsx';
import { useDraft } from '../forms/use-draft.ts';
import { notify } from '../frame/notices.tsx';
import { actionNames } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/actions/use-confirmed-action.tsx';
import { useSteering } from '../tasks/waiting/use-steering.ts';

/** Lets people tell the agent of an unfinished run something, and pause or cancel the run. */
export const Steering = memo(function Steering({ task }: { task: api.Task }) {
  const { mutate, isPending } = useSteering(task);
  const { select, isPending: isStopping, dialog } = useConfirmedAction();
  const isBusy = isPending || isStopping;
  const say = (text: string, onSent: () => void) =>
    mutate(async (id) => {
      await api.sayToTask(id, { text });
      onSent();
      notify('The agent reads this before its next turn', 'success');
      return api.getTask(id);
    });
  const pause = () =>
    mutate(async (id) => {
      const paused = await api.pauseTask(id);
      if (paused.attention === null) notify("The run pauses after its agent's current turn", 'success');
      return paused;
    });
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

function MessageForm(props: { place: string; isBusy: boolean; onSend(text: string, onSent: () => void): void }) {
  const { place, isBusy, onSend } = props;
  const draft = useDraft(place, '');
  const text = draft.value.trim();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The text stays until the service has it.
    if (text !== '' && !isBusy) onSend(text, draft.clear);
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
