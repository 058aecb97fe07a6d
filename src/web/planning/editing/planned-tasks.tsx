import { PlusIcon } from '@primer/octicons-react';
import { Button, Flash, FormControl, TextInput } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { estimateText } from '../../../domain/forecast/estimates.ts';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { errorMessage } from '../../live/errors.ts';
import * as queries from '../../live/queries.ts';
import { useEditing } from '../use-editing.ts';
import { EditProblem } from './edit-problem.tsx';
import { PlannedTaskItem } from './planned-task-item.tsx';
import { useEdit } from './use-edit.ts';
import { useTaskDraft } from './use-task-draft.ts';

const maxTasks = 100;

/** Shows the tasks of a plan, which can be edited before a sprint is created with them. */
export function PlannedTasks(props: {
  projectId: string;
  session: api.WizardSession;
  onFinalized(): Promise<unknown>;
}) {
  const { projectId, session, onFinalized } = props;
  const agents = useQuery(queries.agentsOf(projectId));
  const repositories = useQuery(queries.repositories(projectId));
  const draft = useTaskDraft(session);
  const { tasks } = draft;
  const edit = useEdit(projectId, session, 'tasks');
  const isFinal = session.status === 'finalized';
  useEditing(projectId, session.sessionId, 'tasks', draft.isChanged && !isFinal);
  return (
    <div className="stack">
      <ol className="stack plain-list" aria-label="Planned tasks">
        {tasks.map((task, i) => (
          <PlannedTaskItem
            key={task.ref}
            task={task}
            number={i + 1}
            agents={agents.data}
            repositories={repositories.data}
            dependencies={task.dependsOn.map((ref) => tasks.find((t) => t.ref === ref)?.title ?? ref)}
            expected={expectedOf(session, task.ref)}
            isReadOnly={isFinal}
            onChange={(change) => draft.update(task.ref, change)}
            onRemove={tasks.length > 1 ? () => draft.remove(task.ref) : undefined}
          />
        ))}
      </ol>
      {!isFinal && (
        <>
          <div className="row wrap-row">
            {tasks.length < maxTasks && (
              <Button size="small" leadingVisual={PlusIcon} onClick={draft.add}>
                Add task
              </Button>
            )}
            {draft.isChanged && (
              <Button
                size="small"
                loading={edit.isSaving}
                onClick={() => edit.save({ tasks }, () => draft.reset(tasks))}
              >
                Save tasks
              </Button>
            )}
          </div>
          <EditProblem
            edit={edit}
            onOverwrite={() => edit.overwrite({ tasks }, () => draft.reset(tasks))}
            onDiscard={() => {
              draft.reset();
              edit.rebase();
            }}
          />
          <CreateSprint
            projectId={projectId}
            session={session}
            count={tasks.length}
            // Unsaved edits are saved first, so that a change of somebody else is noticed.
            onBefore={async () => {
              if (draft.isChanged) await edit.saveAsync({ tasks });
            }}
            onFinalized={onFinalized}
          />
        </>
      )}
    </div>
  );
}

/** Says how long a task may take, as it was last saved, and whether it would be done too late. */
function expectedOf({ tasks, doesNotFit }: api.WizardSession, ref: string): string {
  const estimate = tasks?.find((task) => task.ref === ref)?.estimate;
  const late = doesNotFit?.find((task) => task.ref === ref);
  return [estimate === undefined ? '' : estimateText(estimate), late?.reason].join(' ').trim();
}

function CreateSprint(props: {
  projectId: string;
  session: api.WizardSession;
  count: number;
  onBefore(): Promise<void>;
  onFinalized(): Promise<unknown>;
}) {
  const { projectId, session, count, onBefore, onFinalized } = props;
  const navigate = useNavigate();
  const [name, setName] = useState((session.prd?.title ?? session.goal).replace(/\s+/g, ' ').slice(0, 200));
  const create = useMutation({
    mutationFn: async () => {
      // The tasks show why they were not saved.
      const isSaved = await onBefore().then(
        () => true,
        () => false,
      );
      return isSaved ? api.finalizeWizard(projectId, session.sessionId, { name: name.trim() }) : undefined;
    },
    onSuccess: async (made) => {
      if (made === undefined) return;
      await onFinalized();
      await navigate(`/sprints/${made.sprint.id}`);
    },
  });
  return (
    <>
      {create.error && <Flash variant="danger">{errorMessage(create.error)}</Flash>}
      <div className="row wrap-row bottom-aligned">
        <FormControl required className="grow">
          <FormControl.Label>Sprint name</FormControl.Label>
          <TextInput block maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </FormControl>
        <Button variant="primary" loading={create.isPending} onClick={() => create.mutate()}>
          Create sprint with {plural(count, 'task')}
        </Button>
      </div>
    </>
  );
}
