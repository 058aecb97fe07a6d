import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { usePaused } from '../forms/use-paused.ts';
import * as queries from '../live/queries.ts';
import {
  agentItem,
  generalItems,
  type Item,
  projectItem,
  projectItems,
  recentItem,
  sprintItem,
  taskItem,
} from './palette-items.ts';
import { rank } from './rank.ts';
import { listRecent } from './recent.ts';

const maxShown = 12;
/** Shorter texts are in most tasks. */
const minSearch = 2;

/** Returns what the palette shows for a search: projects, tasks, agents, sprints, pages and actions. */
export function useItems(props: {
  person: string;
  projectId: string | undefined;
  search: string;
  /** Actions on what the page shows. */
  pageItems: Item[];
  showKeys(): void;
}): { items: Item[]; isSearching: boolean } {
  const { person, projectId, search, pageItems, showKeys } = props;
  const [recent] = useState(() => listRecent(localStorage, person));
  // Outside of projects, the one that was used last is searched.
  const lastProject = recent.find(({ kind }) => kind === 'project')?.id.slice('project '.length);
  const where = projectId ?? lastProject ?? '';
  const hasProject = where !== '';
  const projects = useQuery(queries.projects());
  const agents = useQuery({ ...queries.agentsOf(where), enabled: hasProject });
  const sprints = useQuery({ ...queries.sprints(where), enabled: hasProject });
  const searched = usePaused(search.trim());
  const isLong = searched.length >= minSearch;
  const found = useQuery({
    ...queries.taskSearch(where, searched),
    enabled: hasProject && isLong,
    placeholderData: keepPreviousData,
  });
  const tasks = isLong ? (found.data ?? []) : [];
  const known = [
    ...pageItems,
    ...(projectId === undefined ? [] : projectItems(projectId)),
    ...generalItems(showKeys),
    ...tasks.map(taskItem),
    ...(projects.data ?? []).map(projectItem),
    ...(agents.data ?? []).map(agentItem(where)),
    ...(sprints.data ?? []).map(sprintItem),
  ];
  const ids = new Set(known.map(({ id }) => id));
  const all = [...known, ...recent.filter(({ id }) => !ids.has(id)).map(recentItem)];
  const recentIds = recent.map(({ id }) => id);
  const items = rank(useDeferredValue(search), all, recentIds, maxShown);
  return { items, isSearching: hasProject && isLong && (found.isFetching || searched !== search.trim()) };
}
