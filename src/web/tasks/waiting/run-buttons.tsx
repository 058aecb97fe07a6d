import { Button } from '@primer/react';
import type { Task } from '../../api.ts';
import { useRunControls } from './use-run-controls.ts';
import { WordsButton } from './words-button.tsx';

/**
 * Shows the buttons for a run that is not finished: one to write to its agent, and one to pause it. A message that is being
 * written stays when the run ends.
 */
export function RunButtons({ task }: { task: Task }) {
  const { say, pause, isPending } = useRunControls(task);
  const isLive = task.status === 'in_progress';
  return (
    <div className={isLive ? 'row wrap-row page-head' : ''}>
      <WordsButton
        name="Message agent"
        label="What should the agent know?"
        taskId={task.id}
        isDisabled={isPending}
        isOffered={isLive}
        outlivesWaits
        onSubmit={say}
      />
      {isLive && task.attention === null && (
        <Button disabled={isPending} onClick={pause}>
          Pause run
        </Button>
      )}
    </div>
  );
}
