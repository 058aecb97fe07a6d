import { SearchIcon } from '@primer/octicons-react';
import { Select, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { RefObject } from 'react';
import * as queries from '../live/queries.ts';
import type { Filters } from './use-filters.ts';

export function BoardFilters(props: {
  projectId: string;
  filters: Filters;
  searchField: RefObject<HTMLInputElement | null>;
}) {
  const { projectId, filters, searchField } = props;
  const agents = useQuery(queries.agentsOf(projectId));
  const sprints = useQuery(queries.sprints(projectId));
  return (
    <>
      <TextInput
        ref={searchField}
        leadingVisual={SearchIcon}
        aria-label="Search titles and descriptions"
        aria-keyshortcuts="/"
        placeholder="Search tasks (/)"
        value={filters.searchText}
        onChange={(event) => filters.setSearchText(event.target.value)}
      />
      <Filter name="agent" filters={filters} options={agents.data} all="All agents" none="No agent" />
      <Filter name="sprint" filters={filters} options={sprints.data} all="All sprints" none="No sprint" />
      <Filter name="state" filters={filters} options={[{ id: 'failed', name: 'Failed' }]} all="All states" />
    </>
  );
}

function Filter(props: {
  name: string;
  filters: Filters;
  options: { id: string; name: string }[] | undefined;
  all: string;
  none?: string;
}) {
  const { name, filters, options, all, none } = props;
  return (
    <Select
      aria-label={`Filter by ${name}`}
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
