import { TrashIcon } from '@primer/octicons-react';
import { IconButton, Select, Textarea, TextInput } from '@primer/react';
import type { AgentEntry, PlannedTask, RepositoryEntry } from '../../api.ts';

export function PlannedTaskItem(props: {
  task: PlannedTask;
  number: number;
  agents: AgentEntry[] | undefined;
  repositories: RepositoryEntry[] | undefined;
  /** The titles of the tasks that this one depends on. */
  dependencies: string[];
  /** What is expected of the task, in sentences; empty if nothing is known. */
  expected: string;
  isReadOnly: boolean;
  onChange(change: Partial<PlannedTask>): void;
  /** Undefined if this is the only task, which cannot be removed. */
  onRemove: (() => void) | undefined;
}) {
  const { task, number, agents, repositories, dependencies, expected, isReadOnly, onChange, onRemove } = props;
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
        {!isReadOnly && (
          <IconButton
            icon={TrashIcon}
            aria-label={`Remove task ${number}`}
            disabled={onRemove === undefined}
            onClick={() => onRemove?.()}
          />
        )}
      </div>
      <div className="row wrap-row">
        <Choice
          label={`Agent for task ${number}`}
          none="No agent"
          value={task.owner}
          options={agents}
          isReadOnly={isReadOnly}
          onChoose={(owner) => onChange({ owner, ownerReason: null })}
        />
        <Choice
          label={`Repository of task ${number}`}
          none="First repository"
          value={task.repositoryId}
          options={repositories}
          isReadOnly={isReadOnly}
          onChoose={(repositoryId) => onChange({ repositoryId })}
        />
      </div>
      {task.ownerReason !== null && <p className="muted small wrap">Why this agent: {task.ownerReason}</p>}
      <Textarea
        block
        rows={4}
        resize="vertical"
        aria-label={`Description of task ${number}`}
        disabled={isReadOnly}
        maxLength={50_000}
        value={task.description}
        onChange={(event) => onChange({ description: event.target.value })}
      />
      {dependencies.length > 0 && <p className="muted small wrap">Depends on: {dependencies.join('; ')}</p>}
      {expected !== '' && <p className="muted small wrap">{expected}</p>}
    </li>
  );
}

function Choice(props: {
  label: string;
  none: string;
  value: string | null;
  options: { id: string; name: string }[] | undefined;
  isReadOnly: boolean;
  onChoose(id: string | null): void;
}) {
  const { label, none, value, options, isReadOnly, onChoose } = props;
  return (
    <Select
      aria-label={label}
      disabled={isReadOnly}
      value={value ?? ''}
      onChange={({ target }) => onChoose(target.value === '' ? null : target.value)}
    >
      <Select.Option value="">{none}</Select.Option>
      {options?.map(({ id, name }) => (
        <Select.Option key={id} value={id}>
          {name}
        </Select.Option>
      ))}
    </Select>
  );
}
