import { Checkbox, CheckboxGroup, FormControl, Label } from '@primer/react';
import type * as api from '../api.ts';

/** Names the repositories that may use something, or warns that none may. */
export function Owners({ all, chosen }: Omit<ChoiceProps, 'onChange'>) {
  const names = all.filter(({ id }) => chosen.includes(id)).map(({ name }) => name);
  if (names.length === 0) return <Label variant="attention">No repository can use it</Label>;
  return <span className="wrap">{names.join(', ')}</span>;
}

interface ChoiceProps {
  all: api.RepositoryEntry[];
  chosen: readonly string[];
  onChange(chosen: readonly string[]): void;
}

/** Lets an admin choose the repositories of a project that may use something. */
export function RepositoryChoice({ all, chosen, onChange }: ChoiceProps) {
  const toggle = (id: string) => onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <CheckboxGroup>
      <CheckboxGroup.Label>Repositories that may use it</CheckboxGroup.Label>
      {all.map(({ id, name }) => (
        <FormControl key={id}>
          <Checkbox checked={chosen.includes(id)} onChange={() => toggle(id)} />
          <FormControl.Label className="wrap">
            <bdi>{name}</bdi>
          </FormControl.Label>
        </FormControl>
      ))}
    </CheckboxGroup>
  );
}
