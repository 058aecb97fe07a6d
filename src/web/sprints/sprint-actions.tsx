import { Button, Dialog, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { SelectField } from '../forms/select-field.tsx';
import { notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import { type RowAction, RowActions } from '../rows/row-actions.tsx';
import { isOpenSprint } from './is-open-sprint.ts';
import { SprintFormDialog } from './sprint-form-dialog.tsx';

/** Shows the actions that the status of a sprint allows: start, complete, cancel, delete and edit. */
export function SprintActions({ sprint }: { sprint: api.Sprint }) {
  const { status } = sprint;
  const cancel = useCancel(sprint);
  const remove = useDelete(sprint);
  const [isEditing, setEditing] = useState(false);
  const close = () => setEditing(false);
  const actions: RowAction[] = [
    ...(isOpenSprint(sprint) ? [{ name: 'Edit', onSelect: () => setEditing(true) }] : []),
    status === 'active'
      ? { name: 'Cancel sprint', isDanger: true, onSelect: () => void cancel() }
      : { name: 'Delete', isDanger: true, onSelect: () => void remove() },
  ];
  return (
    <div className="row">
      {status === 'planning' && <StartSprint sprint={sprint} />}
      {status === 'active' && <CompleteSprint sprint={sprint} />}
      <RowActions of={sprint.name} actions={actions} size="medium" />
      {isEditing && <SprintFormDialog projectId={sprint.projectId} sprint={sprint} onSaved={close} onClose={close} />}
    </div>
  );
}

/** Sends a request about a sprint, then fetches again what depends on it. */
function useSprintAction() {
  const client = useQueryClient();
  const { mutate: run, isPending } = useMutation({
    mutationFn: (request: () => Promise<unknown>) => request(),
    onSuccess: () => {
      for (const key of ['sprint', 'sprints', 'metrics', 'burndown', 'digest'])
        void client.invalidateQueries({ queryKey: [key] });
    },
    onError: notifyError,
  });
  return { run, isPending };
}

/** Asks before agents start to work, because that costs money. */
function StartSprint({ sprint }: { sprint: api.Sprint }) {
  const { run, isPending } = useSprintAction();
  const confirm = useConfirm();
  const open = sprint.taskCount - sprint.completedCount;
  const start = async () => {
    const isConfirmed =
      open === 0 ||
      (await confirm({
        title: 'Start this sprint?',
        content: `It has ${plural(open, 'open task')}. Agents start on theirs in the order of their dependencies, which costs money, up to the budgets in the settings. Tasks without an agent stay for people.`,
        confirmButtonContent: 'Start sprint',
        confirmButtonType: 'primary',
      }));
    if (isConfirmed) run(() => api.startSprint(sprint.id));
  };
  return (
    <Button variant="primary" loading={isPending} onClick={() => void start()}>
      Start sprint
    </Button>
  );
}

function CompleteSprint({ sprint }: { sprint: api.Sprint }) {
  const { run, isPending } = useSprintAction();
  const [isOpen, setOpen] = useState(false);
  const complete = (unfinished: string | undefined) =>
    run(() => api.completeSprint(sprint.id, unfinished === undefined ? {} : { unfinished }));
  return (
    <>
      <Button variant="primary" loading={isPending} onClick={() => setOpen(true)}>
        Complete sprint
      </Button>
      {isOpen && <CompleteSprintDialog sprint={sprint} onComplete={complete} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Returns a function that cancels a sprint, after a confirmation. */
function useCancel(sprint: api.Sprint) {
  const { run } = useSprintAction();
  const confirm = useConfirm();
  return async () => {
    const isConfirmed = await confirm({
      title: 'Cancel this sprint?',
      content: 'Its runs are cancelled and its unfinished tasks return to the backlog.',
      confirmButtonContent: 'Cancel sprint',
      confirmButtonType: 'danger',
      cancelButtonContent: 'Keep sprint',
    });
    if (isConfirmed) run(() => api.cancelSprint(sprint.id));
  };
}

/** Returns a function that deletes a sprint, after a confirmation. */
function useDelete(sprint: api.Sprint) {
  const { run } = useSprintAction();
  const confirm = useConfirm();
  const navigate = useNavigate();
  return async () => {
    const isConfirmed = await confirm({
      title: 'Delete this sprint?',
      content: 'Its metrics are permanently deleted. Its tasks are kept.',
      confirmButtonContent: 'Delete sprint',
      confirmButtonType: 'danger',
      cancelButtonContent: 'Keep sprint',
    });
    if (!isConfirmed) return;
    run(async () => {
      await api.deleteSprint(sprint.id);
      await navigate(`/projects/${sprint.projectId}/sprints`);
    });
  };
}

/** Asks where the unfinished tasks of a sprint go: `backlog`, or the id of another sprint. */
function CompleteSprintDialog(props: {
  sprint: api.Sprint;
  onComplete(unfinished: string | undefined): void;
  onClose(): void;
}) {
  const { sprint, onComplete, onClose } = props;
  const [target, setTarget] = useState('backlog');
  const sprints = useQuery(queries.sprints(sprint.projectId));
  const unfinished = sprint.taskCount - sprint.completedCount;
  const complete = () => {
    onComplete(unfinished === 0 ? undefined : target);
    onClose();
  };
  return (
    <Dialog title="Complete sprint" onClose={onClose} width="large">
      <div className="stack">
        <p>{progressText(sprint.taskCount, unfinished)}</p>
        {unfinished > 0 && (
          <SelectField
            label="Move unfinished tasks to"
            emptyOption="Backlog"
            value={target === 'backlog' ? '' : target}
            options={sprints.data?.filter((s) => s.status === 'planning')}
            onSelect={(id) => setTarget(id === '' ? 'backlog' : id)}
          />
        )}
        <div className="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={complete}>
            Complete sprint
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function progressText(total: number, unfinished: number): string {
  if (total === 0) return 'This sprint has no tasks.';
  if (unfinished === 0) return total === 1 ? 'The only task is done.' : `All ${total} tasks are done.`;
  return `${unfinished} of ${plural(total, 'task')} ${unfinished === 1 ? 'is' : 'are'} not done.`;
}
