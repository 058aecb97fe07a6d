import { Button, Dialog, Flash, FormControl, TextInput } from '@primer/react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { formatNumber } from '../display/formats.ts';

/** Shows a dialog with a form. The first field gets the focus. */
export function FormDialog(props: {
  title: string;
  /** What the form is about, such as the title of a task. */
  subtitle?: string | undefined;
  width?: 'large' | 'xlarge';
  /** What gets the focus afterwards, if the dialog was opened from a menu that is gone by then. */
  returnFocusRef?: RefObject<HTMLElement | null>;
  onClose(): void;
  children: ReactNode;
}) {
  const { title, subtitle, width = 'large', returnFocusRef, onClose, children } = props;
  const firstField = useRef<HTMLElement>(null);
  const findFirstField = (content: HTMLDivElement | null) => {
    firstField.current = content?.querySelector<HTMLElement>('input, textarea, select') ?? null;
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      width={width}
      initialFocusRef={firstField}
      {...(subtitle === undefined ? {} : { subtitle: <bdi className="wrap">{subtitle}</bdi> })}
      {...(returnFocusRef === undefined ? {} : { returnFocusRef })}
    >
      <div ref={findFirstField} className="form-dialog">
        {children}
      </div>
    </Dialog>
  );
}

/** The longest title that the service accepts, in characters, except for documents and their parts. */
const maxTitle = 200;

/**
 * Shows a field for a title or a name. A longer one is not cut, because people who paste it might not notice: the field says how
 * much is too much, and the service refuses it.
 */
export function TitleField(props: {
  label?: string;
  max?: number;
  /** Where the rest of a long title belongs. */
  instead?: string;
  isDisabled?: boolean;
  /** Why the service refused the value. */
  problem?: string | undefined;
  /** It has the focus when it appears. */
  hasFocus?: boolean;
  className?: string;
  value: string;
  onChange(value: string): void;
}) {
  const { label = 'Title', max = maxTitle, instead, isDisabled = false } = props;
  const { problem, hasFocus = false, className = '', value, onChange } = props;
  const length = value.trim().length;
  return (
    <FormControl required disabled={isDisabled} className={className}>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput block autoFocus={hasFocus} value={value} onChange={(event) => onChange(event.target.value)} />
      {length > max && (
        <FormControl.Validation variant="error">
          The {label.toLowerCase()} has {formatNumber(length)} of at most {max} characters. Shorten it
          {instead === undefined ? '' : `, or move a part to ${instead}`}.
        </FormControl.Validation>
      )}
      {length <= max && problem !== undefined && (
        <FormControl.Validation variant="error">{problem}</FormControl.Validation>
      )}
    </FormControl>
  );
}

/** Shows the buttons at the end of a form: cancel and submit. `children` are further buttons. */
export function FormButtons(props: {
  submit: string;
  isBusy?: boolean;
  isDisabled?: boolean;
  onCancel(): void;
  children?: ReactNode;
}) {
  const { submit, isBusy = false, isDisabled = false, onCancel, children } = props;
  return (
    <div className="row end wrap-row form-buttons">
      <Button onClick={onCancel}>Cancel</Button>
      {children}
      <Button type="submit" variant="primary" loading={isBusy} disabled={isDisabled}>
        {submit}
      </Button>
    </div>
  );
}

/** Says in a dialog that somebody else was first. The text stays in its field, so that it can be copied. */
export function OvertakenNote({ text }: { text: string }) {
  return (
    <Flash variant="warning" role="alert">
      <bdi>{text}</bdi> Your text was not sent.
    </Flash>
  );
}
