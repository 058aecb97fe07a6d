import { XIcon } from '@primer/octicons-react';
import { FormControl, IconButton, TextInput } from '@primer/react';
import { useState } from 'react';

const maxResults = 8;

/** Lets people select several of many options. The first ones are shown, and others are found by their names. */
export function SearchPicker(props: {
  label: string;
  selected: string[];
  options: { id: string; name: string }[];
  /** The text shown when there is no option; undefined if options are fetched when people search. */
  none?: string;
  onSelect(ids: string[]): void;
  /** Called with what people search, for options that are fetched. */
  onSearch?(text: string): void;
}) {
  const { label, selected, options, none, onSelect, onSearch } = props;
  const [search, setSearch] = useState('');
  const onChange = (value: string) => {
    setSearch(value);
    onSearch?.(value);
  };
  const nameOf = (id: string) => options.find((o) => o.id === id)?.name ?? id;
  const text = search.trim().toLowerCase();
  const left = options.filter(({ id }) => !selected.includes(id));
  // Fetched options are also those that are selected already, so they say nothing before a search.
  const matches = text === '' && none === undefined ? [] : left.filter(({ name }) => name.toLowerCase().includes(text));
  return (
    <div className="stack tight">
      <FormControl>
        <FormControl.Label>{label}</FormControl.Label>
        <TextInput block placeholder="Search" value={search} onChange={(event) => onChange(event.target.value)} />
      </FormControl>
      {matches.length > 0 && (
        <ul className="list">
          {matches.slice(0, maxResults).map(({ id, name }) => (
            <li key={id}>
              <button type="button" className="list-button" onClick={() => onSelect([...selected, id])}>
                Add <bdi>{name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      {none !== undefined && (
        <p className="muted small" role="status">
          {noteOf(left.length, matches.length, none)}
        </p>
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

/** Says why fewer options are shown than there are. */
function noteOf(left: number, matching: number, none: string): string {
  if (left === 0) return none;
  if (matching === 0) return 'No match. Try a part of the title.';
  return matching > maxResults ? `${matching - maxResults} more. Search to see them.` : '';
}
