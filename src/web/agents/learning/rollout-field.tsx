import { FormControl, TextInput } from '@primer/react';

/** Returns the percentage that a text stands for, or undefined. */
export function rolloutOf(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) <= 100 ? Number(text) : undefined;
}

/** The share of tasks that a version of an agent takes. */
export function RolloutField(props: { version: number; text: string; onChange(text: string): void }) {
  const { version, text, onChange } = props;
  return (
    <FormControl>
      <FormControl.Label>Rollout (%)</FormControl.Label>
      <TextInput
        type="number"
        min={0}
        max={100}
        step={1}
        value={text}
        validationStatus={rolloutOf(text) === undefined ? 'error' : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {rolloutOf(text) === undefined && (
        <FormControl.Validation variant="error">Enter a whole number from 0 to 100.</FormControl.Validation>
      )}
      <FormControl.Caption>
        The share of tasks that version {version} takes. Below 100, version {version - 1} takes the others.
      </FormControl.Caption>
    </FormControl>
  );
}
