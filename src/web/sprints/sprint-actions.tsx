import { Button, Dialog, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { counted } from '../display/plural.ts';
import { Chosen } from '../forms/select-field.tsx';
import { notifyError } from '../frame/notices.tsx';
import * as q from '../live/queries.ts';
import { SprintForm } from './sprint-form-dialog.tsx';

/** Start, edit, complete, cancel and delete, as far as the sprint's status has them. */
export function SprintActs({ sprint }: { sprint: api.Sprint }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const go = useNavigate();
  const [isCompleting, setCompleting] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const act = useMutation({
    mutationFn: (ask: () => Promise<unknown>) => ask(),
    onSuccess: () => {
      for (const what of ['sprint', 'sprints', 'metrics', 'burndown', 'tasks', 'digest'])
        void client.invalidateQueries({ queryKey: [what] });
    },
    onError: notifyError,
  });
  const sure = async (title: string, content: string, ask: () => Promise<unknown>) => {
    if (
      await confirm({
        title,
        content,
        confirmButtonContent: title,
        confirmButtonType: 'danger',
        cancelButtonContent: 'Keep it',
      })
    )
      act.mutate(ask);
  };
  const { id, status } = sprint;
  return (
    <div className="row wrap-row page-head">
      {status === 'planning' && (
        <Button
          variant="primary"
          loading={act.isPending}
          onClick={() => act.mutate(() => api.postSprintsBySprintIdStart(id))}
        >
          Start the sprint
        </Button>
      )}
      {status === 'active' && (
        <>
          <Button variant="primary" loading={act.isPending} onClick={() => setCompleting(true)}>
            Complete the sprint
          </Button>
          <Button
            variant="danger"
            onClick={() =>
              void sure('Cancel the sprint', 'Its runs are cancelled; unfinished tasks go back to the backlog.', () =>
                api.postSprintsBySprintIdCancel(id),
              )
            }
          >
            Cancel the sprint
          </Button>
        </>
      )}
      {status !== 'active' && (
        <Button
          variant="danger"
          onClick={() =>
            void sure('Delete the sprint', 'Its figures are gone for good; its tasks stay.', async () => {
              await api.deleteSprintsBySprintId(id);
              await go(`/projects/${sprint.projectId}/sprints`);
            })
          }
        >
          Delete
        </Button>
      )}
      {(status === 'planning' || status === 'active') && <Button onClick={() => setEditing(true)}>Edit</Button>}
      {isEditing && (
        <SprintForm
          projectId={sprint.projectId}
          sprint={sprint}
          onSaved={() => setEditing(false)}
          onClose={() => setEditing(false)}
        />
      )}
      {isCompleting && (
        <Complete
          sprint={sprint}
          onClose={() => setCompleting(false)}
          onChosen={(unfinished) =>
            act.mutate(() => api.postSprintsBySprintIdComplete(id, unfinished === undefined ? {} : { unfinished }))
          }
        />
      )}
    </div>
  );
}

/** What becomes of the tasks that are not done. */
function Complete(props: { sprint: api.Sprint; onClose(): void; onChosen(unfinished: string | undefined): void }) {
  const { sprint, onClose, onChosen } = props;
  const [place, setPlace] = useState('backlog');
  const sprints = useQuery(q.sprints(sprint.projectId));
  const left = sprint.taskCount - sprint.completedCount;
  return (
    <Dialog title="Complete the sprint" onClose={onClose} width="large">
      <div className="stack">
        {left === 0 ? (
          <p>{sprint.taskCount === 1 ? 'The one task is' : `All ${sprint.taskCount} tasks are`} done.</p>
        ) : (
          <>
            <p>
              {left} of {counted(sprint.taskCount, 'task')} {left === 1 ? 'is' : 'are'} not done. Where should they go?
            </p>
            <Chosen
              label="The unfinished tasks go to"
              none="The backlog"
              value={place === 'backlog' ? '' : place}
              options={sprints.data?.filter((s) => s.status === 'planning')}
              onChosen={(id) => setPlace(id === '' ? 'backlog' : id)}
            />
          </>
        )}
        <div className="row end">
          <Button onClick={onClose}>Close</Button>
          <Button
            variant="primary"
            onClick={() => {
              onChosen(left === 0 ? undefined : place);
              onClose();
            }}
          >
            Complete
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
