import { TrashIcon } from '@primer/octicons-react';
import { IconButton, Select, Textarea, TextInput } from '@primer/react';
import type { AgentEntry, PlannedTask } from '../api.ts';

export function PlannedTaskItem(props: {
  task: PlannedTask;
  number: number;
  agents: AgentEntry[] | undefined;
  /** The titles of the tasks that this one depends on. */
  dependencies: string[];
  isReadOnly: boolean;
  onChange(change: Partial<PlannedTask>): void;
  /** Undefined if this is the only task, which cannot be removed. */
  onRemove: (() => void) | undefined;
}) {
  const { task, number, agents, dependencies, isReadOnly, onChange, onRemove } = props;
  return (
    <li className="planned">
      <div className="row">
        <TextInput
          block
          aria-label={`Title of task ${number}`}
          maxLength={200}
          disabled={isReadOnly}
          value={task.title}
          onChange={(event) => onChange({ title: event.target.value })}
        />
        <Select
          aria-label={`Agent for task ${number}`}
          disabled={isReadOnly}
          value={task.owner ?? ''}
          onChange={(event) => onChange({ owner: event.target.value === '' ? null : event.target.value })}
        >
          <Select.Option value="">No agent</Select.Option>
          {agents?.map(({ id, name }) => (
            <Select.Option key={id} value={id}>
              {name}
            </Select.Option>
          ))}
        </Select>
        {!isReadOnly && (
          <IconButton
            icon={TrashIcon}
            aria-label={`Remove task ${number}`}
            disabled={onRemove === undefined}
            onClick={() => onRemove?.()}
          />
        )}
      </div>
      <Textarea
        block
        rows={2}
        resize="vertical"
        aria-label={`Description of task ${number}`}
        disabled={isReadOnly}
        value={task.description}
        onChange={(event) => onChange({ description: event.target.value })}
      />
      {dependencies.length > 0 && <p className="muted small wrap">Depends on: {dependencies.join('; ')}</p>}
    </li>
  );
}
