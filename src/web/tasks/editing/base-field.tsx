import { FormControl, TextInput } from '@primer/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { usePaused } from '../../forms/use-paused.ts';
import * as repositoryQueries from '../../live/queries/repositories.ts';

interface Props {
  /** Its branches are offered; without it, any name can be written. */
  repositoryId: string | undefined;
  value: string;
  onChange(base: string): void;
  disabled?: boolean;
}

/** Shows from which branch a task starts, with the branches of its repository to choose from. */
export function BaseField({ repositoryId, value, onChange, disabled = false }: Props) {
  const list = useId();
  const search = usePaused(value.trim());
  const { data: branches = [] } = useQuery({
    ...repositoryQueries.branches(repositoryId ?? '', search),
    enabled: repositoryId !== undefined && !disabled,
    placeholderData: keepPreviousData,
  });
  return (
    <FormControl disabled={disabled}>
      <FormControl.Label>Base branch</FormControl.Label>
      <TextInput
        block
        list={list}
        maxLength={255}
        placeholder="The repository decides"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {branches.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </FormControl>
  );
}
