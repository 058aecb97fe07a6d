import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import type { Task } from '../api.ts';
import { notify } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import { actionForDrop } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/actions/use-confirmed-action.tsx';
import { onArrowKey } from './arrow-keys.ts';
import { BoardColumn } from './board-column.tsx';
import { columns, filterTasks } from './filter-tasks.ts';

export function Board(props: { projectId: string; tasks: Task[]; searchParams: URLSearchParams; searchText: string }) {
  const { projectId, tasks, searchParams, searchText } = props;
  const agents = useQuery(queries.agentsOf(projectId));
  const agentNames = useMemo(() => new Map(agents.data?.map(({ id, name }) => [id, name])), [agents.data]);
  // Deferred, so that typing into the search field stays responsive with thousands of tasks.
  const params = useDeferredValue(searchParams.toString());
  const text = useDeferredValue(searchText);
  const byColumn = useMemo(() => filterTasks(tasks, new URLSearchParams(params), text), [tasks, params, text]);
  const { select, dialog } = useConfirmedAction();
  const onDrop = (taskId: string, status: Task['status']) => {
    const task = tasks.find((t) => t.id === taskId);
    if (task === undefined || task.status === status) return;
    const drop = actionForDrop(task, status);
    if ('refusal' in drop) return notify(drop.refusal);
    void select(task, drop.action);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys move the focus between cards, which are links */}
      <div className="board" onKeyDown={onArrowKey}>
        {columns.map((status) => (
          <BoardColumn
            key={status}
            status={status}
            tasks={byColumn.get(status) ?? []}
            agentNames={agentNames}
            onDrop={onDrop}
          />
        ))}
      </div>
      {dialog}
    </>
  );
}
