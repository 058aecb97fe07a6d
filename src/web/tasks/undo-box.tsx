import { Button, ConfirmationDialog } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { May } from '../forms/may.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';
import { TaskLink } from './quote-box.tsx';

/** Offers to undo a task that is done, and to try again once it is undone. Says what an undo reverts. */
export function UndoBox({ task }: { task: api.Task }) {
  const isDone = task.status === 'done';
  const { data: plan } = useQuery({ ...queries.undo(task.id), enabled: isDone });
  return (
    <>
      {task.undoOf !== null && (
        <p className="box page-part">
          Reverts what was merged of <TaskLink id={task.undoOf} />.
        </p>
      )}
      {isDone && plan !== undefined && <Offer task={task} plan={plan} />}
    </>
  );
}

function Offer({ task, plan }: { task: api.Task; plan: api.UndoPlan }) {
  const [isAsking, setAsking] = useState(false);
  const { pulls, problem, undoneBy, tryAgain } = plan;
  if (undoneBy !== null && problem !== null)
    return (
      <section className="box row wrap-row page-part" aria-label="Undo">
        <span className="wrap">
          {pulls.length === 0 ? 'Undone by ' : 'Is being undone by '}
          <TaskLink id={undoneBy} />.
        </span>
        {pulls.length === 0 && tryAgain !== null && (
          <May>
            <TryAgain task={task} from={tryAgain} />
          </May>
        )}
      </section>
    );
  if (problem !== null)
    return (
      <p className="muted small wrap page-part">
        <bdi>{problem}</bdi>
      </p>
    );
  return (
    <section className="box row wrap-row page-part" aria-label="Undo">
      <span className="wrap">{plural(pulls.length, 'pull request')} merged.</span>
      <May>
        <Button onClick={() => setAsking(true)}>Undo task</Button>
      </May>
      {isAsking && <UndoDialog task={task} pulls={pulls} onClose={() => setAsking(false)} />}
    </section>
  );
}

/** At most this many pull requests are listed. The others are counted. */
const mostListed = 10;

function UndoDialog({ task, pulls, onClose }: { task: api.Task; pulls: api.UndoPlan['pulls']; onClose(): void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const undo = useMutation({
    mutationFn: () => api.undoTask(task.id),
    onSuccess: async (made) => {
      putTask(client, made);
      await client.invalidateQueries({ queryKey: ['undo', task.id] });
      await navigate(`/tasks/${made.id}`);
    },
    onError: (error) => {
      notifyError(error);
      onClose();
    },
  });
  return (
    <ConfirmationDialog
      title="Undo this task?"
      confirmButtonContent="Undo task"
      confirmButtonLoading={undo.isPending}
      onClose={(gesture) => (gesture === 'confirm' ? undo.mutate() : onClose())}
    >
      <p>A new task reverts these, with pull requests of its own that you merge together:</p>
      <ol>
        {pulls.slice(0, mostListed).map(({ url, number, repositoryName, base }) => (
          <li key={url} className="wrap">
            <bdi>
              {repositoryName} #{number}
            </bdi>{' '}
            on <code>{base}</code>
          </li>
        ))}
      </ol>
      {pulls.length > mostListed && <p>and {pulls.length - mostListed} more</p>}
      <p className="muted">
        It needs no model unless a revert conflicts or the checks fail. Nothing is merged without you.
      </p>
    </ConfirmationDialog>
  );
}

/** Moves the task back to Ready and goes on from the last turn of its agent. */
function TryAgain({ task, from }: { task: api.Task; from: NonNullable<api.UndoPlan['tryAgain']> }) {
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: async () => {
      putTask(client, await api.updateTask(task.id, { status: 'ready' }));
      return api.rewindTask(task.id, from);
    },
    onSuccess: (started) => {
      putTask(client, started);
      notify(`The agent continues from turn ${from.turn}`, 'success');
      void client.invalidateQueries({ queryKey: ['runs', task.id] });
    },
    onError: notifyError,
  });
  return (
    <Button loading={again.isPending} onClick={() => again.mutate()}>
      Try again from turn {from.turn}
    </Button>
  );
}
