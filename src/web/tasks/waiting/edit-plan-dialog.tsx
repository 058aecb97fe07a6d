import { Flash, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useDeferredValue, useState } from 'react';
import type { Attention, Task } from '../../api.ts';
import { FormButtons, FormDialog, OvertakenNote } from '../../forms/form-dialog.tsx';
import { submitOnCtrlEnter } from '../../forms/submit.ts';
import { TextChanges } from '../../forms/text-changes.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { useOvertaken } from '../timeline/overtaken.ts';

/** The longest plan that the service accepts. */
const maxPlan = 20_000;

/** Lets a person change the plan of an agent and approve it as it is then. Shows how it differs from the agent's. */
export function EditPlanDialog(props: {
  task: Pick<Task, 'id' | 'title'>;
  attention: Pick<Attention, 'id' | 'text'>;
  /** Approves the changed plan. Rejects when the service refuses it, after telling the person why. */
  onSubmit(plan: string): Promise<unknown>;
  onClose(): void;
}) {
  const { task, attention, onSubmit, onClose } = props;
  const draft = useDraft(`Edit plan ${attention.id}`, attention.text);
  const shown = useDeferredValue(draft.value);
  const [wasSubmitted, setSubmitted] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const decided = useOvertaken(task.id);
  // The approval changes the task, too.
  const overtaken = isBusy ? undefined : decided;
  const isMissing = draft.value.trim() === '';
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (isMissing || isBusy || overtaken !== undefined) return;
    setBusy(true);
    try {
      await onSubmit(draft.value.trim());
      draft.clear();
      onClose();
    } catch {
      setBusy(false);
    }
  };
  const onCancel = () => {
    draft.clear();
    onClose();
  };
  return (
    <FormDialog title="Edit plan" subtitle={task.title} onClose={onClose} width="xlarge">
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {overtaken !== undefined && <OvertakenNote text={overtaken} />}
        <FormControl required>
          <FormControl.Label>Plan (Markdown)</FormControl.Label>
          <Textarea
            block
            rows={14}
            resize="vertical"
            maxLength={maxPlan}
            value={draft.value}
            onChange={(event) => draft.set(event.target.value)}
            onKeyDown={submitOnCtrlEnter}
          />
          <FormControl.Caption>The agent carries out the plan as it is here.</FormControl.Caption>
        </FormControl>
        {wasSubmitted && isMissing && <Flash variant="danger">The plan must not be empty.</Flash>}
        <section className="stack" aria-label="Your changes">
          <p className="strong">Your changes</p>
          <TextChanges before={attention.text} after={shown} label="Difference to the agent's plan" />
        </section>
        <FormButtons
          submit="Approve this plan"
          isBusy={isBusy}
          isDisabled={overtaken !== undefined}
          onCancel={onCancel}
        />
      </form>
    </FormDialog>
  );
}
