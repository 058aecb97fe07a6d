import { FormControl, Textarea } from '@primer/react';
import { useState } from 'react';
import { FormDialog, FormEnd } from './form-dialog.tsx';

/** Asks for some words in a dialog. */
export function AskText(props: {
  title: string;
  label: string;
  isRequired?: boolean;
  button?: string;
  onText(text: string): void;
  onClose(): void;
}) {
  const { title, label, isRequired = false, button = title, onText, onClose } = props;
  const [text, setText] = useState('');
  const [isTried, setTried] = useState(false);
  const isMissing = isRequired && text.trim() === '';
  const send = () => {
    setTried(true);
    if (isMissing) return;
    onText(text.trim());
    onClose();
  };
  return (
    <FormDialog title={title} onClose={onClose} width="large">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <FormControl required={isRequired}>
          <FormControl.Label>{label}</FormControl.Label>
          <Textarea
            block
            resize="vertical"
            maxLength={10_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          {isTried && isMissing && (
            <FormControl.Validation variant="error">Say it in a few words.</FormControl.Validation>
          )}
        </FormControl>
        <FormEnd act={button} onClose={onClose} />
      </form>
    </FormDialog>
  );
}
