import { XIcon } from '@primer/octicons-react';
import { FormControl, IconButton, TextInput } from '@primer/react';
import { useState } from 'react';

const mostShown = 8;

/** Some of many things, found by their names. */
export function Several(props: {
  label: string;
  chosen: string[];
  options: { id: string; name: string }[];
  onChosen(ids: string[]): void;
}) {
  const { label, chosen, options, onChosen } = props;
  const [search, setSearch] = useState('');
  const nameOf = (id: string) => options.find((o) => o.id === id)?.name ?? id;
  const wanted = search.trim().toLowerCase();
  const found =
    wanted === ''
      ? []
      : options.filter((o) => !chosen.includes(o.id) && o.name.toLowerCase().includes(wanted)).slice(0, mostShown);
  return (
    <div className="stack tight">
      <FormControl>
        <FormControl.Label>{label}</FormControl.Label>
        <TextInput block placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
      </FormControl>
      {found.length > 0 && (
        <ul className="list">
          {found.map(({ id, name }) => (
            <li key={id}>
              <button type="button" className="plain" onClick={() => onChosen([...chosen, id])}>
                Add <bdi>{name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      <ul>
        {chosen.map((id) => (
          <li key={id} className="row">
            <bdi className="wrap">{nameOf(id)}</bdi>
            <IconButton
              icon={XIcon}
              size="small"
              variant="invisible"
              aria-label={`Remove ${nameOf(id).slice(0, 60)}`}
              onClick={() => onChosen(chosen.filter((each) => each !== id))}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
