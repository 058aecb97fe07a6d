import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import * as api from './api.ts';
import { statusOf } from './client.ts';
import * as q from './queries.ts';

/** Changes that come together are looked at together. */
const gatherMs = 60;
/** With more at once the whole list is asked for instead. */
const mostSingle = 15;
/** After a stream that was refused, such as the eleventh of one person, this long until the next try. */
const againMs = 15_000;

/** A stream that has not opened by then is not waited for any longer. */
const patienceMs = 1500;

/**
 * Keeps what is shown of a project as it is, by its event stream. Events carry no state: what one names is looked at
 * again. What is asked for while it is `opening` could miss a change in between, so the pages wait for it.
 */
export function useProjectEvents(projectId: string | undefined): 'opening' | 'open' | 'lost' {
  const client = useQueryClient();
  const [{ of, state }, setState] = useState<{ of: string | undefined; state: 'open' | 'lost' }>({
    of: undefined,
    state: 'open',
  });
  useEffect(() => {
    if (projectId === undefined) return;
    const set = (next: 'open' | 'lost') => setState({ of: projectId, state: next });
    const late = setTimeout(() => set('lost'), patienceMs);
    let source: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let gather: ReturnType<typeof setTimeout> | undefined;
    let changed = new Map<string, 'task' | 'run' | 'sprint'>();
    const look = () => {
      const ids = changed;
      changed = new Map();
      gather = undefined;
      lookAgain(client, projectId, ids);
    };
    const hear = (kind: 'task' | 'run' | 'sprint') => (event: MessageEvent<string>) => {
      changed.set((JSON.parse(event.data) as { id: string }).id, kind);
      gather ??= setTimeout(look, gatherMs);
    };
    const connect = () => {
      source = new EventSource(`/api/v1/projects/${encodeURIComponent(projectId)}/events`);
      for (const kind of ['task', 'run', 'sprint'] as const) source.addEventListener(kind, hear(kind));
      source.addEventListener('reset', () => void client.invalidateQueries());
      source.onopen = () => {
        clearTimeout(late);
        set('open');
        // What was asked for before, to find out which project this is.
        void client.invalidateQueries({ predicate: ({ queryKey: [what] }) => what === 'task' || what === 'sprint' });
      };
      source.onerror = () => {
        set('lost');
        // The browser comes back by itself with the last id, unless it was refused.
        if (source?.readyState !== EventSource.CLOSED) return;
        again = setTimeout(() => {
          connect();
          void client.invalidateQueries();
        }, againMs);
      };
    };
    connect();
    return () => {
      source?.close();
      clearTimeout(late);
      clearTimeout(again);
      clearTimeout(gather);
    };
  }, [client, projectId]);
  return projectId === undefined || of === projectId ? state : 'opening';
}

function lookAgain(client: QueryClient, projectId: string, changed: Map<string, string>): void {
  const of = (kind: string) => [...changed].filter(([, k]) => k === kind).map(([id]) => id);
  const [taskIds, runIds, sprintIds] = [of('task'), of('run'), of('sprint')];
  if (taskIds.length > mostSingle) void client.invalidateQueries({ queryKey: ['tasks', projectId] });
  else for (const id of taskIds) void lookAtTask(client, projectId, id);
  for (const id of taskIds)
    for (const what of ['pulls', 'subtasks', 'diff', 'handoffs', 'runs'])
      void client.invalidateQueries({ queryKey: [what, id] });
  if (runIds.length > 0) for (const what of ['runs', 'health']) void client.invalidateQueries({ queryKey: [what] });
  if (sprintIds.length > 0) void client.invalidateQueries({ queryKey: ['sprints', projectId] });
  if (sprintIds.length > 0 || taskIds.length > 0)
    for (const what of ['sprint', 'metrics', 'burndown', 'digest', 'velocity'])
      void client.invalidateQueries({ queryKey: [what] });
}

/** One task as it is now, put where lists and pages have it. */
async function lookAtTask(client: QueryClient, projectId: string, id: string): Promise<void> {
  try {
    putTask(client, await api.getTasksById(id));
  } catch (error) {
    if (statusOf(error) !== 404) return void client.invalidateQueries({ queryKey: ['tasks', projectId] });
    client.setQueryData<api.Task[]>(q.tasks(projectId).queryKey, (list) => list?.filter((t) => t.id !== id));
    void client.invalidateQueries({ queryKey: ['task', id] });
  }
}

/** Puts a task that the service answered with where it is shown. */
export function putTask(client: QueryClient, task: api.Task): void {
  client.setQueryData(q.task(task.id).queryKey, task);
  client.setQueryData<api.Task[]>(q.tasks(task.projectId).queryKey, (list) => {
    if (list === undefined) return undefined;
    return list.some((t) => t.id === task.id) ? list.map((t) => (t.id === task.id ? task : t)) : [task, ...list];
  });
}
