import { Button, Checkbox, Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { KeyboardEvent } from 'react';
import { plural } from '../display/formats.ts';
import { FormButtons } from '../forms/form-dialog.tsx';
import { SelectField } from '../forms/select-field.tsx';
import * as queries from '../live/queries.ts';
import { isOpenSprint } from '../sprints/is-open-sprint.ts';
import { PlanField } from './plan-field.tsx';
import { type NewTaskFields, useNewTasks } from './use-new-tasks.ts';

interface FieldsProps {
  fields: NewTaskFields;
  set(change: Partial<NewTaskFields>): void;
}

/** Shows the fields of a new task, or of several. What people write is kept until it is sent or Cancel is pressed. */
export function NewTaskForm(props: { projectId: string; isList: boolean; onClose(): void }) {
  const { projectId, isList } = props;
  const { fields, set, titles, problem, isCreating, isStarting, onSubmit, onStart, onDiscard } = useNewTasks(props);
  const createLabel = titles.length === 0 ? 'Create tasks' : `Create ${plural(titles.length, 'task')}`;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (isList) onSubmit(event);
    else onStart();
  };
  return (
    <form className="stack" onSubmit={onSubmit} onKeyDown={onKeyDown}>
      {problem !== '' && <Flash variant="danger">{problem}</Flash>}
      {isList ? (
        <FormControl required>
          <FormControl.Label>One title per line</FormControl.Label>
          <Textarea block rows={8} value={fields.text} onChange={(event) => set({ text: event.target.value })} />
          <FormControl.Caption>{plural(titles.length, 'task')}, listed in this order</FormControl.Caption>
        </FormControl>
      ) : (
        <TitleAndDescription fields={fields} set={set} />
      )}
      <Assignment projectId={projectId} fields={fields} set={set} />
      <FormControl>
        <Checkbox checked={fields.issue} onChange={(event) => set({ issue: event.target.checked })} />
        <FormControl.Label>
          {isList ? 'Create a GitHub issue for each task' : 'Create a GitHub issue'}
        </FormControl.Label>
      </FormControl>
      <FormButtons submit={isList ? createLabel : 'Create task'} isBusy={isCreating} onCancel={onDiscard}>
        {!isList && (
          <Button loading={isStarting} onClick={onStart} aria-keyshortcuts="Control+Enter">
            Create and start
          </Button>
        )}
      </FormButtons>
    </form>
  );
}

function TitleAndDescription({ fields, set }: FieldsProps) {
  return (
    <>
      <FormControl required>
        <FormControl.Label>Title</FormControl.Label>
        <TextInput block maxLength={200} value={fields.text} onChange={(event) => set({ text: event.target.value })} />
      </FormControl>
      <FormControl>
        <FormControl.Label>Description</FormControl.Label>
        <Textarea
          block
          rows={6}
          resize="vertical"
          maxLength={50_000}
          value={fields.description}
          onChange={(event) => set({ description: event.target.value })}
        />
        <FormControl.Caption>
          Describe the result you want and how to check it. Markdown is supported. Press Ctrl+Enter to create and start
          the task.
        </FormControl.Caption>
      </FormControl>
    </>
  );
}

/** Shows fields for the agent, the repository, the sprint and the plan of the task. */
function Assignment({ projectId, fields, set }: FieldsProps & { projectId: string }) {
  const agents = useQuery(queries.agentsOf(projectId));
  const repositories = useQuery(queries.repositories(projectId));
  const sprints = useQuery(queries.sprints(projectId));
  return (
    <div className="fields">
      <SelectField
        label="Agent"
        emptyOption="No agent"
        value={fields.owner ?? ''}
        options={agents.data}
        onSelect={(owner) => set({ owner })}
      />
      <SelectField
        label="Repository"
        emptyOption="Primary repository"
        value={fields.repositoryId}
        options={repositories.data}
        onSelect={(repositoryId) => set({ repositoryId })}
      />
      <SelectField
        label="Sprint"
        emptyOption="No sprint"
        value={fields.sprintId}
        options={sprints.data?.filter(isOpenSprint)}
        onSelect={(sprintId) => set({ sprintId })}
      />
      <PlanField value={fields.planFirst} onSelect={(planFirst) => set({ planFirst })} />
    </div>
  );
}
