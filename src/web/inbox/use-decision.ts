import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { isConnectionError, statusOf } from '../live/errors.ts';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';
import { performAction, type TaskAction } from '../tasks/actions/task-actions.ts';
import type { Steering } from '../tasks/actions/use-steering.ts';
import { useConfirmedAction } from '../tasks/use-confirmed-action.tsx';
import { keyOf, outcomeOf, type TaskEntry } from './outcome.ts';
import { snoozeText } from './snooze-times.ts';

/** Entries whose decisions this page has announced, so that their disappearance needs no second notice. */
const announced = new Set<string>();

/** Decisions that the service has not replied to. */
const deciding = new Map<string, Promise<api.Task>>();

/** Returns whether this page has announced what became of an entry, and forgets that. */
export function takeAnnounced(entry: TaskEntry): boolean {
  return announced.delete(keyOf(entry));
}

/** Fetches a task; undefined when it was deleted. */
export async function findTask(id: string): Promise<api.Task | undefined> {
  return api.getTask(id).catch((error) => {
    if (statusOf(error) === 404) return undefined;
    throw error;
  });
}

/** Takes an entry out of the list, which is then fetched again. */
function removeEntry(client: QueryClient, entry: TaskEntry): void {
  for (const scope of queries.inboxScopes)
    client.setQueryData(queries.inbox(scope).queryKey, (entries) =>
      entries?.filter((each) => keyOf(each) !== keyOf(entry)),
    );
  void client.invalidateQueries({ queryKey: ['inbox'] });
}

/** Returns a mutation that brings a snoozed entry back to the inbox. */
export function useEndSnooze({ taskId }: TaskEntry) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.endInboxSnooze(taskId),
    onSuccess: () => client.invalidateQueries({ queryKey: ['inbox'] }),
    onError: notifyError,
  });
}

/** Returns a function that leaves an entry out of the person's inbox until then. The notice offers to take that back. */
export function useSnooze(entry: TaskEntry): { snooze(until: Date): void; isPending: boolean } {
  const client = useQueryClient();
  const { taskId, title } = entry;
  const undo = useEndSnooze(entry);
  const { mutate, isPending } = useMutation({
    mutationFn: (until: Date) => api.snoozeInboxEntry(taskId, { until: until.toISOString() }),
    onMutate: () => void announced.add(keyOf(entry)),
    onSuccess: (_, until) => {
      removeEntry(client, entry);
      const act = () => undo.mutate();
      notify(`Snoozed until ${snoozeText(until)}: ${title}`, 'success', { name: 'Undo', act });
    },
    onError: (error) => {
      announced.delete(keyOf(entry));
      notifyError(error);
    },
  });
  return { snooze: mutate, isPending };
}

/** Decides an entry of the inbox. It leaves the list when the service has replied. */
export function useDecision(entry: TaskEntry): Steering {
  const client = useQueryClient();
  const { mutateAsync: send, isPending } = useMutation({
    mutationFn: (act: (id: string) => Promise<api.Task>) => act(entry.taskId),
    onSuccess: (task) => {
      putTask(client, task);
      removeEntry(client, entry);
    },
    onError: (error) => explainRefusal(client, entry, error),
  });
  const mutateAsync = (act: (id: string) => Promise<api.Task>) => {
    const key = keyOf(entry);
    announced.add(key);
    // A key that is held down repeats faster than React disables a button.
    const sent = deciding.get(key) ?? send(act).finally(() => deciding.delete(key));
    deciding.set(key, sent);
    return sent;
  };
  return { mutate: (act) => void mutateAsync(act).catch(() => {}), mutateAsync, isPending };
}

/** Says why a decision was refused. Usually somebody else was first. */
async function explainRefusal(client: QueryClient, entry: TaskEntry, error: unknown): Promise<void> {
  try {
    // Offline, the inbox would be fetched, and the error shown, only when the connection is back.
    if (isConnectionError(error)) throw error;
    const entries = await client.fetchQuery({ ...queries.inbox('all'), staleTime: 0 });
    const task = await findTask(entry.taskId);
    if (task !== undefined) putTask(client, task);
    const isConflict = [404, 409].includes(statusOf(error) ?? 0);
    if (isConflict && !entries.some((each) => keyOf(each) === keyOf(entry)))
      return notify(`Somebody else was first. ${outcomeOf(entry, task)}`, 'danger');
  } catch {
    // The connection is lost. The first error says so too.
  }
  announced.delete(keyOf(entry));
  notifyError(error);
}

/** The message after each action has succeeded. */
const done: Record<TaskAction, string> = {
  start: 'Started',
  retry: 'Retrying',
  revise: 'Requested changes',
  cancel: 'Cancelled the run',
  merge: 'Merged',
  to_backlog: 'Moved to Backlog',
  to_ready: 'Moved to Ready',
  to_done: 'Marked as done',
};

/** Performs the same actions as the page of a task, as the decision of an entry. */
export function useInboxAction({ title }: TaskEntry, { mutateAsync }: Steering) {
  return useConfirmedAction(({ action, ...details }) =>
    mutateAsync(async (id) => {
      const task = await performAction(action, id, details);
      const isLater = action === 'merge' && task.status !== 'done';
      notify(`${isLater ? 'Will be merged when it is ready' : done[action]}: ${title}`, 'success');
      return task;
    }),
  );
}
