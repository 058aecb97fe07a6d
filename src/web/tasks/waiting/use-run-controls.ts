import * as api from '../../api.ts';
import { notify } from '../../frame/notices.tsx';
import { useSteering } from './use-steering.ts';

/** Returns what people can do while a run of a task is not finished: write to its agent, and pause the run. */
export function useRunControls(task: api.Task) {
  const { mutate, mutateAsync, isPending } = useSteering(task);
  return {
    isPending,
    /** Rejects when the service refuses, after telling the person why. */
    say: (text: string) =>
      mutateAsync(async (id) => {
        await api.sayToTask(id, { text });
        notify('The agent reads this before its next turn', 'success');
        // The message has arrived, even if the task cannot be fetched.
        return api.getTask(id).catch(() => task);
      }),
    pause: () =>
      mutate(async (id) => {
        const paused = await api.pauseTask(id);
        if (paused.attention === null) notify("The run pauses after its agent's current turn", 'success');
        return paused;
      }),
  };
}
