import { XIcon } from '@primer/octicons-react';
import { FormControl, IconButton, TextInput } from '@primer/react';
import { useState } from 'react';

const maxResults = 8;

/** Lets people select several of many options by searching their names. */
export function SearchPicker(props: {
  label: string;
  selected: string[];
  options: { id: string; name: string }[];
  onSelect(ids: string[]): void;
  /** Called with what people search, for options that are fetched. */
  onSearch?(text: string): void;
}) {
  const { label, selected, options, onSelect, onSearch } = props;
  const [search, setSearch] = useState('');
  const onChange = (value: string) => {
    setSearch(value);
    onSearch?.(value);
  };
  const nameOf = (id: string) => options.find((o) => o.id === id)?.name ?? id;
  const text = search.trim().toLowerCase();
  const matches =
    text === ''
      ? []
      : options.filter((o) => !selected.includes(o.id) && o.name.toLowerCase().includes(text)).slice(0, maxResults);
  return (
    <div className="stack tight">
      <FormControl>
        <FormControl.Label>{label}</FormControl.Label>
        <TextInput block placeholder="Search" value={search} onChange={(event) => onChange(event.target.value)} />
      </FormControl>
      {matches.length > 0 && (
        <ul className="list">
          {matches.map(({ id, name }) => (
            <li key={id}>
              <button type="button" className="list-button" onClick={() => onSelect([...selected, id])}>
                Add <bdi>{name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      <ul>
        {selected.map((id) => (
          <li key={id} className="row">
            <bdi className="wrap">{nameOf(id)}</bdi>
            <IconButton
              icon={XIcon}
              size="small"
              variant="invisible"
              aria-label={`Remove ${nameOf(id).slice(0, 60)}`}
              onClick={() => onSelect(selected.filter((each) => each !== id))}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
