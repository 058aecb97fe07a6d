import { FormControl, Select } from '@primer/react';

/** Shows a labelled select whose options have an id and a name. */
export function SelectField(props: {
  label: string;
  /** The option for no selection; undefined if a selection is required. */
  emptyOption: string | undefined;
  value?: string;
  isDisabled?: boolean;
  options: { id: string; name: string }[] | undefined;
  onSelect(id: string): void;
}) {
  const { label, emptyOption, value, isDisabled = false, options, onSelect } = props;
  return (
    <FormControl disabled={isDisabled}>
      <FormControl.Label>{label}</FormControl.Label>
      <Select block {...(value === undefined ? {} : { value })} onChange={(event) => onSelect(event.target.value)}>
        {emptyOption !== undefined && <Select.Option value="">{emptyOption}</Select.Option>}
        {/* Otherwise it would show the option for no selection while the others are loaded. */}
        {options === undefined && value !== undefined && value !== '' && (
          <Select.Option value={value}>Loading…</Select.Option>
        )}
        {options?.map(({ id, name }) => (
          <Select.Option key={id} value={id}>
            {name}
          </Select.Option>
        ))}
      </Select>
    </FormControl>
  );
}
