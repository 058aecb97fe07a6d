import { FormControl, TextInput } from '@primer/react';

interface LimitField<Key extends string> {
  key: Key;
  label: string;
  text: string;
  /** What is wrong with the text, if anything. */
  problem: string | undefined;
  caption: string;
}

/** A group of fields for numbers that the service limits. */
export function LimitFields<Key extends string>(props: {
  title: string;
  note: string;
  fields: LimitField<Key>[];
  canEdit?: boolean;
  onChange(key: Key, text: string): void;
}) {
  const { title, note, fields, canEdit = true, onChange } = props;
  return (
    <fieldset className="plain-fieldset">
      <legend className="strong">{title}</legend>
      <p className="muted">{note}</p>
      <div className="fields wide">
        {fields.map(({ key, label, text, problem, caption }) => (
          <FormControl key={key} disabled={!canEdit}>
            <FormControl.Label>{label}</FormControl.Label>
            <TextInput
              type="number"
              step="any"
              block
              value={text}
              validationStatus={problem === undefined ? undefined : 'error'}
              onChange={(event) => onChange(key, event.target.value)}
            />
            {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
            <FormControl.Caption>{caption}</FormControl.Caption>
          </FormControl>
        ))}
      </div>
    </fieldset>
  );
}
