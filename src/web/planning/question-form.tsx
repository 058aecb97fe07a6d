import { Button, Checkbox, CheckboxGroup, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import type { WizardStep } from '../api.ts';
import type { Answer } from './use-wizard.ts';

/** Shows a question of the wizard, answered by selecting options, by writing, or both. */
export function QuestionForm(props: {
  step: WizardStep;
  previous?: Pick<Answer, 'selectedOptionIds' | 'customText'>;
  isBusy: boolean;
  onAnswer(answer: Answer): void;
}) {
  const { step, previous, isBusy, onAnswer } = props;
  const [selected, setSelected] = useState(previous?.selectedOptionIds ?? []);
  const [text, setText] = useState(previous?.customText ?? '');
  const isEmpty = selected.length === 0 && text.trim() === '';
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty) onAnswer({ stepId: step.id, selectedOptionIds: selected, customText: text.trim() });
  };
  return (
    <form className="stack" onSubmit={onSubmit}>
      <CheckboxGroup>
        <CheckboxGroup.Label>
          <span className="wrap">{step.question}</span>
        </CheckboxGroup.Label>
        {step.options.map(({ id, label }) => (
          <FormControl key={id}>
            <Checkbox
              value={id}
              checked={selected.includes(id)}
              onChange={({ target }) =>
                setSelected((ids) => (target.checked ? [...ids, id] : ids.filter((each) => each !== id)))
              }
            />
            <FormControl.Label>{label}</FormControl.Label>
          </FormControl>
        ))}
      </CheckboxGroup>
      <FormControl>
        <FormControl.Label>Your own answer</FormControl.Label>
        <Textarea block rows={2} maxLength={10_000} value={text} onChange={(event) => setText(event.target.value)} />
      </FormControl>
      <div>
        <Button type="submit" variant="primary" disabled={isEmpty} loading={isBusy}>
          Submit answer
        </Button>
      </div>
    </form>
  );
}
