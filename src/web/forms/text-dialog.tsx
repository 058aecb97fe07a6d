import { Flash, FormControl, Textarea } from '@primer/react';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { dropNotice } from '../frame/shown-notices.ts';
import { errorMessage } from '../live/errors.ts';
import { FormButtons, FormDialog, OvertakenNote } from './form-dialog.tsx';
import { submitOnCtrlEnter } from './submit.ts';
import { useDraft } from './use-draft.ts';

/**
 * Shows a dialog with a single text field. The text is kept as a draft until it is sent or Cancel is pressed. If
 * `onSubmit` returns a promise, the dialog stays open until it settles, and shows why it failed.
 */
export function TextDialog(props: {
  title: string;
  /** What the text is about, such as the title of a task. */
  subtitle?: string | undefined;
  label: string;
  /** What happens when the text is sent, if the title does not say it. */
  hint?: string | undefined;
  /** What the text answers. */
  children?: ReactNode;
  /** What the text is about; with the title, it names the draft. By default, the page. Null keeps no draft. */
  about?: string | null;
  isRequired?: boolean;
  submit?: string;
  /** Says that somebody else was first, so that the text can no longer be sent. */
  overtaken?: string | undefined;
  onSubmit(text: string): unknown;
  onClose(): void;
}) {
  const {
    title,
    subtitle,
    label,
    hint,
    children,
    about,
    isRequired = false,
    submit = title,
    onSubmit,
    onClose,
  } = props;
  const [isBusy, setBusy] = useState(false);
  // What the person sends changes the task, too.
  const overtaken = isBusy ? undefined : props.overtaken;
  const [place] = useState(about === null ? undefined : `${title} ${about ?? window.location.pathname}`);
  const draft = useDraft(place, '');
  const [problem, setProblem] = useState('');
  const [wasSubmitted, setSubmitted] = useState(false);
  const isShown = useIsShown();
  const isMissing = isRequired && draft.value.trim() === '';
  const send = async () => {
    setSubmitted(true);
    if (isMissing || isBusy || overtaken !== undefined) return;
    setBusy(true);
    try {
      await onSubmit(draft.value.trim());
      draft.clear();
      onClose();
    } catch (error) {
      // The dialog may be gone, for example because the task it is about has moved. Then the notice stays.
      if (!isShown.current) return;
      setProblem(errorMessage(error));
      dropNotice(errorMessage(error));
      setBusy(false);
    }
  };
  const onFormSubmit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  const onCancel = () => {
    draft.clear();
    onClose();
  };
  return (
    <FormDialog title={title} subtitle={subtitle} onClose={onClose} width="large">
      <form className="stack" onSubmit={onFormSubmit}>
        {overtaken !== undefined && <OvertakenNote text={overtaken} />}
        {problem !== '' && overtaken === undefined && <Flash variant="danger">{problem}</Flash>}
        {hint !== undefined && <p className="muted wrap">{hint}</p>}
        {children}
        <FormControl required={isRequired}>
          <FormControl.Label>{label}</FormControl.Label>
          <Textarea
            block
            resize="vertical"
            maxLength={10_000}
            value={draft.value}
            onChange={(event) => draft.set(event.target.value)}
            onKeyDown={submitOnCtrlEnter}
          />
          {wasSubmitted && isMissing && (
            <FormControl.Validation variant="error">This field is required.</FormControl.Validation>
          )}
        </FormControl>
        <FormButtons submit={submit} isBusy={isBusy} isDisabled={overtaken !== undefined} onCancel={onCancel} />
      </form>
    </FormDialog>
  );
}

function useIsShown() {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}
