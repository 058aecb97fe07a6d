import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { notify, notifyError } from '../../frame/notices.tsx';
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

/** What a notice says until the run has paused. */
export const pausesText = "The run pauses after its agent's current turn";

/** What the run of a task still needs from a person who only writes to its agent. */
const neededWords: Record<api.Attention['reason'], string | undefined> = {
  plan: 'decision',
  push: 'decision',
  question: 'answer',
  paused: undefined,
  model: undefined,
  host: undefined,
};

/** Says when the agent of a task reads a message. */
function readText({ attention }: Pick<api.Task, 'attention'>): string {
  if (attention === null) return 'The agent reads this before its next turn';
  const needed = neededWords[attention.reason];
  return `The agent reads this when it goes on.${needed === undefined ? '' : ` It still waits for your ${needed}.`}`;
}

/**
 * Returns what people can do while a run of a task is not finished: write to its agent, and pause the run. A run that is to pause goes on
 * until the turn of its agent is over.
 */
export function useRunControls(task: api.Task) {
  const client = useQueryClient();
  const { mutate, mutateAsync, isPending } = useSteering(task);
  return {
    isPending,
    /** Rejects when the service refuses, after telling the person why. */
    say: (text: string) =>
      mutateAsync(async (id) => {
        await api.sayToTask(id, { text });
        notify(readText(task), 'success');
        // The message has arrived, even if the task cannot be fetched.
        return api.getTask(id).catch(() => task);
      }),
    pause: () =>
      mutate(async (id) => {
        const paused = await api.pauseTask(id);
        if (paused.attention === null) notify(pausesText, 'success');
        // Until the run says that it pauses, its button must not offer to pause it again.
        await Promise.all([['runs', id], ['run']].map((queryKey) => client.invalidateQueries({ queryKey })));
        return paused;
      }),
  };
}
