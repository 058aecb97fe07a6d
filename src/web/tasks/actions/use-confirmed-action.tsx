import { type ConfirmationDialogProps, useConfirm } from '@primer/react';
import { Suspense, useState } from 'react';
import type { Task } from '../../api.ts';
import { lazyPart } from '../../live/load-part.ts';
import { actionNames, type TaskAction } from './task-actions.ts';
import { useTaskAction } from './use-task-action.ts';

const TextDialog = lazyPart(async () => ({ default: (await import('../../forms/text-dialog.tsx')).TextDialog }));

/**
 * Performs the selected action on a task. Actions that cannot be undone are confirmed first, and actions that need
 * instructions for the agent open a dialog, which the caller renders.
 */
export function useConfirmedAction() {
  const { mutate, mutateAsync, isPending } = useTaskAction();
  const confirm = useConfirm();
  const [awaitingText, setAwaitingText] = useState<{ task: Task; action: 'retry' | 'revise' }>();
  const select = async (task: Task, action: TaskAction) => {
    if (action === 'retry' || action === 'revise') return setAwaitingText({ task, action });
    const question = questions[action];
    if (question === undefined || (await confirm(question))) mutate({ task, action });
  };
  const dialog = awaitingText && (
    <Suspense>
      <TextDialog
        title={actionNames[awaitingText.action]}
        label={awaitingText.action === 'retry' ? 'Hint for the agent (optional)' : 'What should change?'}
        about={awaitingText.task.id}
        isRequired={awaitingText.action === 'revise'}
        onClose={() => setAwaitingText(undefined)}
        onSubmit={(text) => mutateAsync({ ...awaitingText, text })}
      />
    </Suspense>
  );
  return { select, isPending, dialog };
}

type Question = Pick<
  ConfirmationDialogProps,
  'title' | 'confirmButtonContent' | 'cancelButtonContent' | 'confirmButtonType'
> & { content: string };

const questions: Partial<Record<TaskAction, Question>> = {
  cancel: {
    title: 'Cancel this run?',
    content: 'The agent stops. Commits that it has pushed stay on its branch.',
    confirmButtonContent: 'Cancel run',
    cancelButtonContent: 'Keep running',
    confirmButtonType: 'danger',
  },
  merge: {
    title: 'Merge pull requests?',
    content: "This merges the task's pull requests on GitHub.",
    confirmButtonContent: 'Merge',
  },
};
