import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Task } from '../api.ts';
import { SearchPicker } from '../forms/search-picker.tsx';
import { usePaused } from '../forms/use-paused.ts';
import * as queries from '../live/queries.ts';

/** Shows the tasks that a task depends on. Others are searched in the service, because a project may have thousands. */
export function DependencyField(props: { task: Task; dependsOn: string[]; onSelect(ids: string[]): void }) {
  const { task, dependsOn, onSelect } = props;
  const [search, setSearch] = useState('');
  const text = usePaused(search.trim());
  const { data: related = [] } = useQuery(queries.relatedTasks(task));
  const { data: found = [] } = useQuery({ ...queries.taskSearch(task.projectId, text), enabled: text !== '' });
  const isKnown = (id: string) => [...related, ...found].some((each) => each.id === id);
  const { data: titles = [] } = useQuery({
    ...queries.titlesOf(
      task.projectId,
      dependsOn.filter((id) => !isKnown(id)),
    ),
    placeholderData: keepPreviousData,
  });
  const names = new Map([...titles, ...related, ...found].map(({ id, title }) => [id, title]));
  names.delete(task.id);
  return (
    <SearchPicker
      label="Depends on"
      selected={dependsOn}
      options={[...names].map(([id, name]) => ({ id, name }))}
      onSelect={onSelect}
      onSearch={setSearch}
    />
  );
}
