import { SearchIcon } from '@primer/octicons-react';
import { Button, Select, TextInput } from '@primer/react';
import { type RefObject, useState } from 'react';
import type { Board } from '../api.ts';
import { priorityOptions } from '../display/names.ts';
import { useIsNarrow } from '../rows/use-is-narrow.ts';
import { sortings, stateFilters } from './arrange-tasks.ts';
import type { Filters } from './use-filters.ts';

export function BoardFilters(props: {
  /** Undefined until it is loaded. */
  board: Board | undefined;
  filters: Filters;
  searchField: RefObject<HTMLInputElement | null>;
}) {
  const { board, filters, searchField } = props;
  const people = board?.people.map(({ id, login }) => ({ id, name: login })) ?? [];
  const hasPriorities =
    filters.searchParams.has('priority') || (board?.tasks.some(({ priority }) => priority !== 'normal') ?? false);
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const chosen = names.filter((name) => filters.searchParams.get(name)).length;
  return (
    <div className={`board-filters${isOpen ? ' open' : ''}`}>
      <TextInput
        className="board-search"
        ref={searchField}
        leadingVisual={SearchIcon}
        aria-label="Search titles and descriptions"
        aria-keyshortcuts="/"
        placeholder={isNarrow ? 'Search tasks' : 'Search tasks (/)'}
        value={filters.searchText}
        onChange={(event) => filters.setSearchText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && filters.setSearchText('')}
      />
      {/* Below the width of a tablet, the filters would take half of the screen. */}
      <div className="filters-toggle">
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {chosen === 0 ? 'Filters' : `Filters (${chosen})`}
        </Button>
      </div>
      <Filter name="agent" filters={filters} options={board?.agents} all="All agents" none="No agent" />
      {people.length > 1 && (
        <Filter name="person" filters={filters} options={people} all="All people" none="Nobody responsible" />
      )}
      {hasPriorities && <Filter name="priority" filters={filters} options={priorityOptions} all="All priorities" />}
      <Filter name="sprint" filters={filters} options={board?.sprints} all="All sprints" none="No sprint" />
      <Filter name="state" filters={filters} options={stateFilters} all="All states" />
      <Filter name="sort" label="Sort by" filters={filters} options={sortings} all="Newest first" />
    </div>
  );
}

const names = ['agent', 'person', 'priority', 'sprint', 'state', 'sort'];

function Filter(props: {
  name: string;
  filters: Filters;
  options: { id: string; name: string }[] | undefined;
  all: string;
  none?: string;
  label?: string;
}) {
  const { name, filters, options, all, none, label = `Filter by ${name}` } = props;
  return (
    <Select
      className="board-filter"
      aria-label={label}
      value={filters.searchParams.get(name) ?? ''}
      onChange={(event) => filters.setParam(name, event.target.value)}
    >
      <Select.Option value="">{all}</Select.Option>
      {none && <Select.Option value="none">{none}</Select.Option>}
      {options?.map((option) => (
        <Select.Option key={option.id} value={option.id}>
          {option.name}
        </Select.Option>
      ))}
    </Select>
  );
}
