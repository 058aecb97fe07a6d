import { Button, Flash, FormControl, TextInput } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/plural.ts';
import { errorMessage } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { PlannedTaskItem } from './planned-task-item.tsx';
import { useTaskDraft } from './use-task-draft.ts';

/** Shows the tasks of a plan, which can be edited before a sprint is created with them. */
export function PlannedTasks(props: {
  projectId: string;
  session: api.WizardSession;
  onFinalized(): Promise<unknown>;
}) {
  const { projectId, session, onFinalized } = props;
  const agents = useQuery(queries.agentsOf(projectId));
  const navigate = useNavigate();
  const { tasks, update, remove, isChanged } = useTaskDraft(session);
  const [name, setName] = useState((session.prd?.title ?? session.goal).replace(/\s+/g, ' ').slice(0, 200));
  const isFinal = session.status === 'finalized';
  const create = useMutation({
    mutationFn: () =>
      api.finalizeWizard(projectId, session.sessionId, {
        name: name.trim(),
        ...(isChanged ? { tasks } : {}),
      }),
    onSuccess: async ({ sprint }) => {
      await onFinalized();
      await navigate(`/sprints/${sprint.id}`);
    },
  });
  return (
    <div className="stack">
      <ol className="stack plain-list" aria-label="Planned tasks">
        {tasks.map((task, i) => (
          <PlannedTaskItem
            key={task.ref}
            task={task}
            number={i + 1}
            agents={agents.data}
            dependencies={task.dependsOn.map((ref) => tasks.find((t) => t.ref === ref)?.title ?? ref)}
            isReadOnly={isFinal}
            onChange={(change) => update(task.ref, change)}
            onRemove={tasks.length > 1 ? () => remove(task.ref) : undefined}
          />
        ))}
      </ol>
      {create.error && <Flash variant="danger">{errorMessage(create.error)}</Flash>}
      {!isFinal && (
        <div className="row wrap-row bottom-aligned">
          <FormControl required>
            <FormControl.Label>Sprint name</FormControl.Label>
            <TextInput maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
          </FormControl>
          <Button variant="primary" loading={create.isPending} onClick={() => create.mutate()}>
            Create sprint with {plural(tasks.length, 'task')}
          </Button>
        </div>
      )}
    </div>
  );
}
