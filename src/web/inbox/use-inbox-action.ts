import type { InboxEntry } from '../api.ts';
import { notify } from '../frame/notices.tsx';
import { performAction, type TaskAction } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/actions/use-confirmed-action.tsx';
import type { Steering } from '../tasks/waiting/use-steering.ts';

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
export function useInboxAction({ title }: InboxEntry, { mutateAsync }: Steering) {
  return useConfirmedAction(({ action, text }) =>
    mutateAsync(async (id) => {
      const task = await performAction(action, id, text);
      notify(`${done[action]}: ${title}`, 'success');
      return task;
    }),
  );
}
