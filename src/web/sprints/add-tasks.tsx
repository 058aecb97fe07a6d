import { Button, Flash } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { SearchPicker } from '../forms/search-picker.tsx';
import { submitOnce } from '../forms/submit.ts';
import { errorMessage } from '../live/errors.ts';
import { putTask } from '../live/put-task.ts';

/** Shows a button that opens a dialog, in which people search tasks and add them to a sprint. */
export function AddTasks({ sprint, allTasks }: { sprint: api.Sprint; allTasks: api.TaskCard[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="page-head">
      <Button onClick={() => setOpen(true)}>Add tasks</Button>
      {isOpen && <AddTasksDialog sprint={sprint} allTasks={allTasks} onClose={() => setOpen(false)} />}
    </div>
  );
}

function AddTasksDialog(props: { sprint: api.Sprint; allTasks: api.TaskCard[]; onClose(): void }) {
  const { sprint, allTasks, onClose } = props;
  const client = useQueryClient();
  const [taskIds, setTaskIds] = useState<string[]>([]);
  const add = useMutation({
    mutationFn: () => api.addSprintTasks(sprint.id, { taskIds }),
    onSuccess: (added) => {
      for (const task of added) putTask(client, task);
      onClose();
    },
  });
  // Subtasks move with their parents.
  const options = allTasks.filter((t) => t.sprintId !== sprint.id && t.status !== 'done' && t.parentId === null);
  return (
    <FormDialog title={`Add tasks to ${sprint.name}`} onClose={onClose}>
      <form className="stack" onSubmit={submitOnce(add, () => taskIds.length > 0)}>
        {add.error && <Flash variant="danger">{errorMessage(add.error)}</Flash>}
        <SearchPicker
          label="Tasks"
          selected={taskIds}
          options={options.map(({ id, title }) => ({ id, name: title }))}
          onSelect={setTaskIds}
        />
        <FormButtons
          submit={taskIds.length === 0 ? 'Add tasks' : `Add ${plural(taskIds.length, 'task')}`}
          isBusy={add.isPending}
          onCancel={onClose}
        />
      </form>
    </FormDialog>
  );
}
