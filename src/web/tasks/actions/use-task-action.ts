import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { notifyError } from '../../frame/notices.tsx';
import { putTask } from '../../live/project-events.ts';
import { type Act, likely, perform } from './task-actions.ts';

interface Asked {
  task: api.Task;
  act: Act;
  text?: string;
}

/** Does something with a task: shown at once, and taken back with the reason when the service refuses. */
export function useTaskAct() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ task, act, text }: Asked) => perform(act, task.id, text),
    // A merge takes its time and may well be refused; it is not shown before it is true.
    onMutate: ({ task, act }) => {
      if (act !== 'merge') putTask(client, { ...task, status: likely[act] });
    },
    onSuccess: (task) => {
      putTask(client, task);
      void client.invalidateQueries({ queryKey: ['runs', task.id] });
    },
    onError: async (error, { task }) => {
      notifyError(error);
      // What is true by now, which need not be what was shown before.
      putTask(client, await api.getTasksById(task.id).catch(() => task));
    },
  });
}
