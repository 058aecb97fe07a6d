import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import type { Board as BoardData, Session, TaskCard } from '../api.ts';
import { formatNumber, plural } from '../display/formats.ts';
import { EmptyState } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { notify } from '../frame/notices.tsx';
import { useShortcuts } from '../keys/shortcuts.ts';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { actionForDrop } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/use-confirmed-action.tsx';
import { arrangeTasks, columns, isFolded, useFolding } from './arrange-tasks.ts';
import { BoardColumn } from './board-column.tsx';
import { maxSelected, type Selection, withToggled } from './bulk/selection.ts';
import { useCardFocus } from './use-card-focus.ts';

const BulkBar = lazyPart(async () => ({ default: (await import('./bulk/bulk-bar.tsx')).BulkBar }));

interface Props {
  projectId: string;
  board: BoardData;
  searchParams: URLSearchParams;
  searchText: string;
  onClearFilters(): void;
}

export function Board({ projectId, board, searchParams, searchText, onClearFilters }: Props) {
  const { tasks, agents, people, sprints } = board;
  const agentNames = useMemo(() => namesById(agents), [agents]);
  const peopleById = useMemo(() => new Map(people.map((person) => [person.id, person])), [people]);
  const sprintNames = useMemo(() => namesById(sprints), [sprints]);
  // Deferred, so that typing into the search field stays responsive with thousands of tasks.
  const params = useDeferredValue(searchParams.toString());
  const text = useDeferredValue(searchText);
  const found = useFound(projectId, searchParams.get('search') ?? '', text);
  const byColumn = useMemo(
    () => arrangeTasks(tasks, new URLSearchParams(params), text, found),
    [tasks, params, text, found],
  );
  const activities = useActivities(projectId, tasks);
  const { choices, toggle } = useFolding(projectId);
  const selection = useSelection();
  const element = useRef<HTMLDivElement>(null);
  useCardFocus(element);
  const mayChange = useMay('member');
  useShortcuts({
    selectCard: () => {
      const id = document.activeElement?.closest('.card')?.querySelector<HTMLElement>('[data-card]')?.dataset.card;
      if (mayChange && id !== undefined) selection.toggle(id);
    },
    actOnSelected: () => document.querySelector<HTMLElement>('.bulk button')?.focus(),
  });
  const { onDrop, dialog } = useDrop(tasks);
  const shown = columns.flatMap((status) => byColumn.get(status) ?? []);
  return (
    <>
      <Suspense>{selection.ids.size > 0 && <BulkBar board={board} shown={shown} selection={selection} />}</Suspense>
      {shown.length === 0 && (
        <EmptyState title="No tasks match these filters">
          <Button onClick={onClearFilters}>Clear filters</Button>
        </EmptyState>
      )}
      <div className="board" ref={element} data-moves-focus>
        {columns.map((status) => {
          const cards = byColumn.get(status) ?? [];
          return (
            <BoardColumn
              key={status}
              status={status}
              tasks={cards}
              isFolded={isFolded(choices, status, cards.length)}
              agentNames={agentNames}
              people={peopleById}
              sprintNames={sprintNames}
              activities={activities}
              selection={selection}
              onDrop={onDrop}
              onFold={() => toggle(status, cards.length)}
            />
          );
        })}
      </div>
      {board.total > tasks.length && (
        <p className="muted">
          Showing the newest {formatNumber(tasks.length)} of {plural(board.total, 'task')}.
        </p>
      )}
      {dialog}
    </>
  );
}

const namesById = (list: { id: string; name: string }[]) => new Map(list.map(({ id, name }) => [id, name]));

/** Returns what the running runs of the board do now, by their ids. */
function useActivities(projectId: string, tasks: TaskCard[]): ReadonlyMap<string, Session['activity']> {
  const isRunning = useMemo(() => tasks.some(({ run }) => run?.status === 'running'), [tasks]);
  const { data } = useQuery({ ...queries.sessions(projectId), enabled: isRunning });
  return useMemo(() => new Map(data?.map(({ id, activity }) => [id, activity])), [data]);
}

/**
 * Returns the ids of the tasks that the service finds by their descriptions too, once typing pauses. Titles are searched
 * here, with every keystroke.
 */
function useFound(projectId: string, search: string, text: string): ReadonlySet<string> {
  const { data } = useQuery(queries.foundTasks(projectId, search));
  const isCurrent = text === search;
  return useMemo(() => new Set(isCurrent ? data : []), [data, isCurrent]);
}

/** Handles the drop of a card on a column: performs the action that moves the task there, or says why it cannot move. */
function useDrop(tasks: TaskCard[]) {
  const { select, dialog } = useConfirmedAction();
  const onDrop = (taskId: string, status: TaskCard['status']) => {
    const task = tasks.find((t) => t.id === taskId);
    if (task === undefined || task.status === status) return;
    const drop = actionForDrop(task, status);
    if ('refusal' in drop) return notify(drop.refusal);
    void select(task, drop.action);
  };
  return { onDrop, dialog };
}

/** Keeps the selected tasks of the board, at most a hundred. */
function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const current = useRef(ids);
  current.current = ids;
  const toggle = useCallback((id: string) => {
    const next = withToggled(current.current, id);
    if (next === undefined) notify(`You can select at most ${maxSelected} tasks.`);
    else setIds(next);
  }, []);
  const replace = useCallback((next: Iterable<string>) => setIds(new Set([...next].slice(0, maxSelected))), []);
  return { ids, toggle, replace };
}
