import { Button } from '@primer/react';
import type { Task } from '../../api.ts';
import { WordsButton } from './attention-box.tsx';
import { useRunControls } from './use-run-controls.ts';

/** Shows the buttons for a run that is not finished: one to write to its agent, and one to pause it. */
export function RunButtons({ task }: { task: Task }) {
  const { say, pause, isPending } = useRunControls(task);
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
