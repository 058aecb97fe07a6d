import { type ConfirmationDialogProps, useConfirm } from '@primer/react';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, Suspense, useRef, useState } from 'react';
import * as api from '../api.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { lazyPart } from '../live/load-part.ts';
import { putStatus, putTask } from '../live/put-task.ts';
import { otherWork } from '../live/queries.ts';
import {
  type ActionDetails,
  type ActionTask,
  actionNames,
  expectedStatus,
  performAction,
  type TaskAction,
} from './actions/task-actions.ts';
import { editedSince } from './failure-notice.tsx';
import { OtherWork } from './other-work.tsx';

const TaskTextDialog = lazyPart(async () => ({
  default: (await import('./waiting/task-text-dialog.tsx')).TaskTextDialog,
}));
const MergeDialog = lazyPart(async () => ({ default: (await import('./merging/merge-dialog.tsx')).MergeDialog }));
const RequestChangesDialog = lazyPart(async () => ({
  default: (await import('./review/request-changes-dialog.tsx')).RequestChangesDialog,
}));

type ActionWithDialog = 'retry' | 'revise' | 'merge';
const hasDialog = (action: TaskAction): action is ActionWithDialog => ['retry', 'revise', 'merge'].includes(action);

/**
 * Performs the selected action on a task. A merge, and actions that cannot be undone, are confirmed first, and actions
 * that need instructions for the agent open a dialog, which the caller renders. `perform` replaces how actions are
 * performed; it rejects when the service refuses.
 */
export function useConfirmedAction(perform?: (request: ActionRequest) => Promise<unknown>) {
  const { mutateAsync: performHere, isPending } = useTaskAction();
  const mutateAsync = perform ?? performHere;
  const isActing = useRef(false);
  /** Acts once for a double click. The refusal has been shown. */
  const mutate = (request: ActionRequest) => {
    if (isActing.current) return;
    isActing.current = true;
    void mutateAsync(request)
      .catch(() => {})
      .finally(() => (isActing.current = false));
  };
  const client = useQueryClient();
  const confirm = useConfirm();
  const [open, setOpen] = useState<{ task: ActionTask; action: ActionWithDialog }>();
  const select = async (task: ActionTask, action: TaskAction) => {
    if (hasDialog(action)) return setOpen({ task, action });
    const question = action === 'start' ? await otherWorkQuestion(client, task) : questions[action];
    if (question === undefined || (await confirm(question))) mutate({ task, action });
  };
  const onClose = () => setOpen(undefined);
  const dialog = open && (
    <Suspense>
      {open.action === 'merge' && (
        <MergeDialog
          task={open.task}
          onMerge={(heads, when) => mutateAsync({ ...open, heads, when })}
          onClose={onClose}
        />
      )}
      {open.action === 'revise' && (
        <RequestChangesDialog
          task={open.task}
          onSubmit={(request) => mutateAsync({ ...open, request })}
          onClose={onClose}
        />
      )}
      {open.action === 'retry' && (
        <TaskTextDialog
          taskId={open.task.id}
          title={actionNames.retry}
          subtitle={open.task.title}
          label="Hint for the agent (optional)"
          hint={failureHint(open.task)}
          about={open.task.id}
          onClose={onClose}
          onSubmit={(text) => mutateAsync({ ...open, text })}
        />
      )}
    </Suspense>
  );
  return { select, isPending, dialog };
}

/** Says in the dialog of a retry why the last run failed. */
function failureHint({ failure, editedSinceFailure = false }: ActionTask): string | undefined {
  return failure === null
    ? undefined
    : `The last run failed: ${failure.message}${editedSinceFailure ? `. ${editedSince}` : ''}`;
}

type Question = Pick<
  ConfirmationDialogProps,
  'title' | 'confirmButtonContent' | 'cancelButtonContent' | 'confirmButtonType'
> & { content: ReactNode };

/** How long a start waits for GitHub to say who else works on the issue. */
const otherWorkMs = 3000;

/** Returns the question for a start while somebody else may be doing the work. Without an answer in time, there is none. */
async function otherWorkQuestion(client: QueryClient, task: ActionTask): Promise<Question | undefined> {
  if (task.issueNumber === null) return undefined;
  const late = new Promise<[]>((resolve) => setTimeout(resolve, otherWorkMs, []));
  const others = await Promise.race([client.fetchQuery(otherWork(task.id)).catch(() => []), late]);
  if (others.length === 0) return undefined;
  return {
    title: 'Start all the same?',
    content: <OtherWork pulls={others} />,
    confirmButtonContent: 'Start',
    cancelButtonContent: 'Do not start',
  };
}

const questions: Partial<Record<TaskAction, Question>> = {
  cancel: {
    title: 'Cancel this run?',
    content: 'The agent stops. Commits that it has pushed stay on its branch.',
    confirmButtonContent: 'Cancel run',
    cancelButtonContent: 'Keep running',
    confirmButtonType: 'danger',
  },
};

/** What a person asks to be done with a task. */
interface ActionRequest extends ActionDetails {
  task: ActionTask;
  action: TaskAction;
}

/**
 * Performs an action on a task. The expected status is shown immediately; if the service refuses, the task is restored
 * and the reason is shown.
 */
function useTaskAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ task, action, ...details }: ActionRequest) => performAction(action, task.id, details),
    onMutate: ({ task, action }) => {
      // A merge takes a while and GitHub may refuse it, so the task keeps its status until the service replies.
      if (action !== 'merge') putStatus(client, task, expectedStatus[action]);
    },
    onSuccess: (task, { action }) => {
      putTask(client, task);
      if (action === 'revise') notify(`Requested changes: ${task.title}`, 'success');
      for (const part of ['runs', 'timeline']) void client.invalidateQueries({ queryKey: [part, task.id] });
    },
    onError: async (error, { task }) => {
      notifyError(error);
      putStatus(client, task, task.status);
      // The task may have changed, so fetch it again. Its previous state is only the fallback.
      await api.getTask(task.id).then(
        (current) => putTask(client, current),
        () => {},
      );
    },
  });
}
