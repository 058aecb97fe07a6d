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

/** Returns a mutation that acts on the unfinished run of a task and then shows the task that the service returned. */
export function useSteering(task: api.Task): Steering {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (act: (id: string) => Promise<api.Task>) => act(task.id),
    onSuccess: (changed) => {
      putTask(client, changed);
      // A message to the agent does not change the task, so no event announces it.
      for (const part of ['runs', 'timeline']) void client.invalidateQueries({ queryKey: [part, task.id] });
    },
    onError: async (error) => {
      notifyError(error);
      // Somebody else may have acted first. Their result is shown instead.
      putTask(client, await api.getTask(task.id).catch(() => task));
    },
  });
}
