import type { Task } from '../../api.ts';
import { priorityOptions } from '../../display/names.ts';
import { SelectField } from '../../forms/select-field.tsx';

const options = [
  { id: 'true', name: 'A person approves it' },
  { id: 'false', name: 'No plan' },
];

/** Shows whether the agent of a task proposes a plan first; null leaves it to the repository. */
export function PlanField({ value, onSelect }: { value: boolean | null; onSelect(planFirst: boolean | null): void }) {
  return (
    <SelectField
      label="Plan"
      emptyOption="The repository decides"
      value={value === null ? '' : String(value)}
      options={options}
      onSelect={(id) => onSelect(id === '' ? null : id === 'true')}
    />
  );
}

/** Shows how urgent a task is. */
export function PriorityField(props: { value: Task['priority']; onSelect(priority: Task['priority']): void }) {
  return (
    <SelectField
      label="Priority"
      emptyOption={undefined}
      value={props.value}
      options={priorityOptions}
      onSelect={(id) => props.onSelect(id as Task['priority'])}
    />
  );
}
