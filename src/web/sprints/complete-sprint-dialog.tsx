import { Button, Dialog } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Sprint } from '../api.ts';
import { plural } from '../display/formats.ts';
import { SelectField } from '../forms/select-field.tsx';
import * as queries from '../live/queries.ts';

/** Asks where the unfinished tasks of a sprint go: `backlog`, or the id of another sprint. */
export function CompleteSprintDialog(props: {
  sprint: Sprint;
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
