import { Button, Checkbox, CheckboxGroup, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import type { WizardStep } from '../api.ts';

interface Given {
  stepId: string;
  selectedOptionIds: string[];
  customText: string;
}

/** One question of the wizard: some of its options, words of one's own, or both. */
export function Question(props: {
  step: WizardStep;
  before?: Pick<Given, 'selectedOptionIds' | 'customText'>;
  isBusy: boolean;
  onAnswer(given: Given): void;
}) {
  const { step, before, isBusy, onAnswer } = props;
  const [chosen, setChosen] = useState(before?.selectedOptionIds ?? []);
  const [text, setText] = useState(before?.customText ?? '');
  const isEmpty = chosen.length === 0 && text.trim() === '';
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty) onAnswer({ stepId: step.id, selectedOptionIds: chosen, customText: text.trim() });
  };
  return (
    <form className="stack" onSubmit={send}>
      <CheckboxGroup>
        <CheckboxGroup.Label>
          <span className="wrap">{step.question}</span>
        </CheckboxGroup.Label>
        {step.options.map(({ id, label }) => (
          <FormControl key={id}>
            <Checkbox
              value={id}
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                setChosen((now) => (target.checked ? [...now, id] : now.filter((each) => each !== id)))
              }
            />
            <FormControl.Label>{label}</FormControl.Label>
          </FormControl>
        ))}
      </CheckboxGroup>
      <FormControl>
        <FormControl.Label>In your own words</FormControl.Label>
        <Textarea block rows={2} maxLength={10_000} value={text} onChange={(event) => setText(event.target.value)} />
      </FormControl>
      <div>
        <Button type="submit" variant="primary" disabled={isEmpty} loading={isBusy}>
          Answer
        </Button>
      </div>
    </form>
  );
}
