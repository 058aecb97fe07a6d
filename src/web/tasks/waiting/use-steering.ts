import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { notifyError } from '../../frame/notices.tsx';
import { putTask } from '../../live/put-task.ts';

/** Sends what a person decides about a task. */
export interface Steering {
  mutate(act: (id: string) => Promise<api.Task>): void;
  /** Rejects when the service refuses, after telling the person why. */
  mutateAsync(act: (id: string) => Promise<api.Task>): Promise<api.Task>;
  isPending: boolean;
}

/** Does something about the unfinished run of a task, and shows the task as it is then. */
export function useSteering(task: api.Task): Steering {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (act: (id: string) => Promise<api.Task>) => act(task.id),
    onSuccess: (changed) => {
      putTask(client, changed);
      // What people say to a run is no change of the task, so it has no event.
      for (const part of ['runs', 'timeline']) void client.invalidateQueries({ queryKey: [part, task.id] });
    },
    onError: async (error) => {
      notifyError(error);
      // Somebody else may have acted first. Their result is shown instead.
      putTask(client, await api.getTask(task.id).catch(() => task));
    },
  });
}
