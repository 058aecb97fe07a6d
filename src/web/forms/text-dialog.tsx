import { FormControl, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import { FormButtons, FormDialog } from './form-dialog.tsx';

/** Shows a dialog with a single text field. */
export function TextDialog(props: {
  title: string;
  label: string;
  isRequired?: boolean;
  submit?: string;
  onSubmit(text: string): void;
  onClose(): void;
}) {
  const { title, label, isRequired = false, submit = title, onSubmit, onClose } = props;
  const [text, setText] = useState('');
  const [wasSubmitted, setSubmitted] = useState(false);
  const isMissing = isRequired && text.trim() === '';
  const onFormSubmit = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (isMissing) return;
    onSubmit(text.trim());
    onClose();
  };
  return (
    <FormDialog title={title} onClose={onClose} width="large">
      <form className="stack" onSubmit={onFormSubmit}>
        <FormControl required={isRequired}>
          <FormControl.Label>{label}</FormControl.Label>
          <Textarea
            block
            resize="vertical"
            maxLength={10_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          {wasSubmitted && isMissing && (
            <FormControl.Validation variant="error">This field is required.</FormControl.Validation>
          )}
        </FormControl>
        <FormButtons submit={submit} onCancel={onClose} />
      </form>
    </FormDialog>
  );
}
