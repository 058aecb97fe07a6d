import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { notifyError } from '../../frame/notices.tsx';
import { putStatus, putTask } from '../../live/put-task.ts';
import { type ActionTask, expectedStatus, performAction, type TaskAction } from './task-actions.ts';

/** What a person asks to be done with a task. */
export interface ActionRequest {
  task: ActionTask;
  action: TaskAction;
  text?: string;
}

/**
 * Performs an action on a task. The expected status is shown immediately; if the service refuses, the task is restored
 * and the reason is shown.
 */
export function useTaskAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ task, action, text }: ActionRequest) => performAction(action, task.id, text),
    onMutate: ({ task, action }) => {
      // A merge takes a while and GitHub may refuse it, so the task keeps its status until the service replies.
      if (action !== 'merge') putStatus(client, task, expectedStatus[action]);
    },
    onSuccess: (task) => {
      putTask(client, task);
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
