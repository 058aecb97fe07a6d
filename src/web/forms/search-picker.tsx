import { XIcon } from '@primer/octicons-react';
import { FormControl, IconButton, TextInput } from '@primer/react';
import { type KeyboardEvent, useRef, useState } from 'react';

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
  const field = useRef<HTMLInputElement>(null);
  const onChange = (value: string) => {
    setSearch(value);
    onSearch?.(value);
  };
  const nameOf = (id: string) => options.find((o) => o.id === id)?.name ?? id;
  const text = search.trim().toLowerCase();
  const left = options.filter(({ id }) => !selected.includes(id));
  // Fetched options are also those that are selected already, so they say nothing before a search.
  const matches = text === '' && none === undefined ? [] : left.filter(({ name }) => name.toLowerCase().includes(text));
  const select = (ids: string[]) => {
    onSelect(ids);
    // What is left of a search that has found its only option would say that nothing matches.
    if (matches.length === 1 && ids.length > selected.length) onChange('');
    // The button that was used is gone.
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const [first] = matches;
    // Enter also ends the composition of a character.
    const isOther = event.ctrlKey || event.metaKey || event.nativeEvent.isComposing;
    if (event.key !== 'Enter' || isOther || text === '') return;
    event.preventDefault();
    if (first !== undefined && !event.repeat) select([...selected, first.id]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys move between the controls in it
    <div className="stack tight" onKeyDown={moveByArrows}>
      <FormControl>
        <FormControl.Label>{label}</FormControl.Label>
        <TextInput
          ref={field}
          block
          placeholder="Search"
          value={search}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </FormControl>
      {matches.length > 0 && (
        <ul className="list">
          {matches.slice(0, maxResults).map(({ id, name }) => (
            <li key={id}>
              <button type="button" className="list-button" onClick={() => select([...selected, id])}>
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
              onClick={() => select(selected.filter((each) => each !== id))}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Moves the focus between the field and the options below it. */
function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, .list-button')];
  const next = stops[stops.indexOf(event.target as HTMLElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** Says why fewer options are shown than there are. */
function noteOf(left: number, matching: number, none: string): string {
  if (left === 0) return none;
  if (matching === 0) return 'No match. Try a part of the title.';
  const more = matching - maxResults;
  return more > 0 ? `${more} more. Search to see ${more === 1 ? 'it' : 'them'}.` : '';
}
