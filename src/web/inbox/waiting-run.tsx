import { Button } from '@primer/react';
import type { Attention, Task } from '../api.ts';
import { Answers, ChangeReasons, Details } from '../tasks/waiting/attention-box.tsx';
import { ChangeSummary, OpenChanges } from './change-summary.tsx';
import type { TaskEntry } from './outcome.ts';
import { useDecision, useInboxAction } from './use-decision.ts';

/** Shows what a run waits for and the buttons to decide it. */
export function WaitingRun({ entry, task }: { entry: TaskEntry; task: Task }) {
  const steering = useDecision(entry);
  const { select, dialog } = useInboxAction(entry, steering);
  const { attention } = task;
  // The run has gone on since the inbox was loaded, which is loaded again soon.
  if (attention === null || attention.reason !== entry.reason) return null;
  return (
    <div className="stack tight">
      <Waiting task={task} attention={attention} />
      <div className="row wrap-row">
        <Answers key={attention.id} task={task} attention={attention} steering={steering} />
        {attention.reason === 'push' && <OpenChanges taskId={task.id} />}
        {attention.reason === 'paused' && (
          <Button variant="danger" disabled={steering.isPending} onClick={() => void select(task, 'cancel')}>
            Cancel run
          </Button>
        )}
      </div>
      {dialog}
    </div>
  );
}

function Waiting({ task, attention }: { task: Task; attention: Attention }) {
  const details = <Details task={task} attention={attention} />;
  switch (attention.reason) {
    case 'plan':
      return (
        <details>
          <summary>Read the plan</summary>
          <div className="box stack">{details}</div>
        </details>
      );
    case 'push':
      return (
        <>
          <ChangeReasons text={attention.text} />
          <ChangeSummary taskId={task.id} />
        </>
      );
    default:
      return details;
  }
}
