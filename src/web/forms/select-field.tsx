import { FormControl, Select } from '@primer/react';

/** One of several things by its name. */
export function Chosen(props: {
  label: string;
  /** Said where nothing is chosen; undefined where something has to be. */
  none: string | undefined;
  value?: string;
  options: { id: string; name: string }[] | undefined;
  onChosen(id: string): void;
}) {
  const { label, none, value, options, onChosen } = props;
  return (
    <FormControl>
      <FormControl.Label>{label}</FormControl.Label>
      <Select block {...(value === undefined ? {} : { value })} onChange={(event) => onChosen(event.target.value)}>
        {none !== undefined && <Select.Option value="">{none}</Select.Option>}
        {options?.map(({ id, name }) => (
          <Select.Option key={id} value={id}>
            {name}
          </Select.Option>
        ))}
      </Select>
    </FormControl>
  );
}
