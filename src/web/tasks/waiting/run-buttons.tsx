import { Button } from '@primer/react';
import * as api from '../../api.ts';
import { notify } from '../../frame/notices.tsx';
import { WordsButton } from './attention-box.tsx';
import { useSteering } from './use-steering.ts';

/** Shows what people can do while a run is not finished: tell its agent something, and pause it. */
export function RunButtons({ task }: { task: api.Task }) {
  const { mutate, mutateAsync, isPending } = useSteering(task);
  const say = (text: string) =>
    mutateAsync(async (id) => {
      await api.sayToTask(id, { text });
      notify('The agent reads this before its next turn', 'success');
      return api.getTask(id);
    });
  const pause = () =>
    mutate(async (id) => {
      const paused = await api.pauseTask(id);
      if (paused.attention === null) notify("The run pauses after its agent's current turn", 'success');
      return paused;
    });
  return (
    <div className="row wrap-row page-head">
      <WordsButton name="Message agent" label="What should the agent know?" isDisabled={isPending} onSubmit={say} />
      {task.attention === null && (
        <Button disabled={isPending} onClick={pause}>
          Pause run
        </Button>
      )}
    </div>
  );
}
