import { Button, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useRef } from 'react';
import { submitOnCtrlEnter } from '../../forms/submit.ts';
import { useDraft } from '../../forms/use-draft.ts';

/**
 * Lets people write to the agent of an unfinished run. When the run ends first, a text that was not sent stays in the field,
 * and an empty form disappears. So it does while a question waits, because a message would not answer it.
 */
export function MessageForm(props: {
  taskId: string;
  isLive: boolean;
  isAsking: boolean;
  isBusy: boolean;
  onSend(text: string): Promise<unknown>;
}) {
  const { taskId, isLive, isAsking, isBusy, onSend } = props;
  const draft = useDraft(`message ${taskId}`, '');
  const field = useRef<HTMLTextAreaElement>(null);
  const text = draft.value.trim();
  if ((!isLive || isAsking) && text === '') return null;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The text stays in the field until the service has it.
    if (isLive && text !== '' && !isBusy) onSend(text).then(draft.clear, () => {});
    // Without a text the button is disabled, and would lose the focus.
    field.current?.focus();
  };
  return (
    <form className="message-form" onSubmit={onSubmit}>
      <FormControl>
        <FormControl.Label>Message the agent</FormControl.Label>
        <Textarea
          ref={field}
          block
          rows={2}
          resize="vertical"
          maxLength={10_000}
          value={draft.value}
          onChange={(event) => draft.set(event.target.value)}
          onKeyDown={submitOnCtrlEnter}
        />
        {!isLive && <FormControl.Caption>The run has ended, so this was not sent.</FormControl.Caption>}
      </FormControl>
      {isLive ? (
        <Button type="submit" disabled={isBusy || text === ''}>
          Send
        </Button>
      ) : (
        <Button onClick={draft.clear}>Discard</Button>
      )}
    </form>
  );
}
