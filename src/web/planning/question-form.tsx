import { Button, Checkbox, CheckboxGroup, FormControl, Textarea } from '@primer/react';
import type { FormEvent } from 'react';
import type { WizardStep } from '../api.ts';
import { submitOnCtrlEnter } from '../forms/form-dialog.tsx';
import { useDraft } from '../forms/use-draft.ts';
import type { Answer } from './use-wizard.ts';

/** Shows a question of the wizard, answered by selecting options, by writing, or both. */
export function QuestionForm(props: {
  sessionId: string;
  step: WizardStep;
  previous?: Pick<Answer, 'selectedOptionIds' | 'customText'>;
  isBusy: boolean;
  onAnswer(answer: Answer): Promise<unknown>;
}) {
  const { sessionId, step, previous, isBusy, onAnswer } = props;
  const draft = useDraft(`answer ${sessionId} ${step.id}`, {
    selected: previous?.selectedOptionIds ?? [],
    text: previous?.customText ?? '',
  });
  const { selected, text } = draft.value;
  const isEmpty = selected.length === 0 && text.trim() === '';
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (isEmpty) return;
    const answer = { stepId: step.id, selectedOptionIds: selected, customText: text.trim() };
    // The page shows why an answer was refused. It is still in the form then.
    onAnswer(answer).then(draft.clear, () => {});
  };
  return (
    <form className="stack" onSubmit={onSubmit}>
      <CheckboxGroup>
        <CheckboxGroup.Label>
          <span className="wrap" data-next-focus>
            {step.question}
          </span>
        </CheckboxGroup.Label>
        {step.options.map(({ id, label }) => (
          <FormControl key={id}>
            <Checkbox
              value={id}
              checked={selected.includes(id)}
              onChange={({ target }) =>
                draft.set({
                  text,
                  selected: target.checked ? [...selected, id] : selected.filter((each) => each !== id),
                })
              }
            />
            <FormControl.Label>{label}</FormControl.Label>
          </FormControl>
        ))}
      </CheckboxGroup>
      <FormControl>
        <FormControl.Label>Your own answer</FormControl.Label>
        <Textarea
          block
          rows={2}
          maxLength={10_000}
          value={text}
          onChange={(event) => draft.set({ selected, text: event.target.value })}
          onKeyDown={submitOnCtrlEnter}
        />
      </FormControl>
      <div>
        <Button type="submit" variant="primary" disabled={isEmpty} loading={isBusy}>
          Submit answer
        </Button>
      </div>
    </form>
  );
}
