import { FormControl, Select } from '@primer/react';

/** One of several things by its name. */
export function Chosen(props: {
  label: string;
  none: string;
  value?: string;
  options: { id: string; name: string }[] | undefined;
  onChosen(id: string): void;
}) {
  const { label, none, value, options, onChosen } = props;
  return (
    <FormControl>
      <FormControl.Label>{label}</FormControl.Label>
      <Select block {...(value === undefined ? {} : { value })} onChange={(event) => onChosen(event.target.value)}>
        <Select.Option value="">{none}</Select.Option>
        {options?.map(({ id, name }) => (
          <Select.Option key={id} value={id}>
            {name}
          </Select.Option>
        ))}
      </Select>
    </FormControl>
  );
}
