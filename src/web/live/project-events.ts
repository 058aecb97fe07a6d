import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import * as api from '../api.ts';
import { listenTo } from './event-stream.ts';
import * as q from './queries.ts';
import { statusOf } from './query-client.ts';

/** Changes that come together are looked at together. */
const gatherMs = 60;
/** With more at once the whole list is asked for instead. */
const mostSingle = 15;
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
    let gather: ReturnType<typeof setTimeout> | undefined;
    let changed = new Map<string, Kind>();
    const look = () => {
      const ids = changed;
      changed = new Map();
      gather = undefined;
      lookAgain(client, projectId, ids);
    };
    const hear = (kind: Kind) => (event: MessageEvent<string>) => {
      changed.set((JSON.parse(event.data) as { id: string }).id, kind);
      gather ??= setTimeout(look, gatherMs);
    };
    const end = listenTo(`/api/v1/projects/${encodeURIComponent(projectId)}/events`, {
      events: {
        task: hear('task'),
        run: hear('run'),
        sprint: hear('sprint'),
        reset: () => void client.invalidateQueries(),
      },
      onOpen: (isFirst) => {
        clearTimeout(late);
        set('open');
        // At first only what was asked for to find out which project this is; later everything may have changed.
        const isEarly = (what: unknown) => what === 'task' || what === 'sprint';
        void client.invalidateQueries(isFirst ? { predicate: ({ queryKey: [what] }) => isEarly(what) } : {});
      },
      onLost: () => set('lost'),
      // Whoever is no member any more, or never was, is told so by the project itself.
      onRefused: async () => {
        await client.refetchQueries({ queryKey: ['project', projectId] });
        const refusal = statusOf(client.getQueryState(q.project(projectId).queryKey)?.error);
        return refusal !== 403 && refusal !== 404;
      },
    });
    return () => {
      end();
      clearTimeout(late);
      clearTimeout(gather);
    };
  }, [client, projectId]);
  return projectId === undefined || of === projectId ? state : 'opening';
}

type Kind = 'task' | 'run' | 'sprint';

function lookAgain(client: QueryClient, projectId: string, changed: Map<string, Kind>): void {
  const of = (kind: Kind) => [...changed].filter(([, k]) => k === kind).map(([id]) => id);
  const again = (...queryKey: string[]) => void client.invalidateQueries({ queryKey });
  const [taskIds, runIds, sprintIds] = [of('task'), of('run'), of('sprint')];
  if (taskIds.length > mostSingle) again('tasks', projectId);
  else for (const id of taskIds) void lookAtTask(client, projectId, id);
  for (const id of taskIds) for (const what of ['pulls', 'subtasks', 'diff', 'handoffs', 'runs']) again(what, id);
  for (const id of runIds) lookAtRun(client, id);
  if (runIds.length > 0) for (const what of ['health', 'agents', 'agent']) again(what);
  if (sprintIds.length > 0) again('sprints', projectId);
  if (sprintIds.length > 0 || taskIds.length > 0)
    for (const what of ['sprint', 'metrics', 'burndown', 'digest', 'velocity']) again(what);
}

/** A run that is shown somewhere is asked for with its task's others; a new one comes with its task's own event. */
function lookAtRun(client: QueryClient, id: string): void {
  void client.invalidateQueries({
    queryKey: ['runs'],
    predicate: ({ state }) => (state.data as api.Run[] | undefined)?.some((run) => run.id === id) ?? false,
  });
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

/** Puts a task that the service answered with where it is shown, unless something newer is there: answers overtake each other. */
export function putTask(client: QueryClient, task: api.Task): void {
  const newer = (known: api.Task | undefined) =>
    known !== undefined && Date.parse(known.updatedAt) > Date.parse(task.updatedAt) ? known : task;
  client.setQueryData<api.Task>(q.task(task.id).queryKey, newer);
  client.setQueryData<api.Task[]>(q.tasks(task.projectId).queryKey, (list) => {
    if (list === undefined) return undefined;
    return list.some((t) => t.id === task.id) ? list.map((t) => (t.id === task.id ? newer(t) : t)) : [task, ...list];
  });
}
