import { PlusIcon, TrashIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, Button, Flash, FormControl, IconButton, Select, Textarea } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { estimateText } from '../../../domain/forecast/estimates.ts';
import { planName } from '../../../domain/wizard.ts';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { TitleField } from '../../forms/form-dialog.tsx';
import { useMay } from '../../forms/may.tsx';
import { storeText } from '../../frame/personal-storage.ts';
import { errorMessage, fieldError } from '../../live/errors.ts';
import * as agentQueries from '../../live/queries/agents.ts';
import * as repositoryQueries from '../../live/queries/repositories.ts';
import { dependentsOf, writtenParts } from '../part-text.ts';
import { useEditing } from '../use-wizard.ts';
import { EditProblem, useEdit, useFocusOnMistake } from './use-edit.tsx';

const maxTasks = 100;

/** Shows the tasks of a plan, which can be edited before a sprint is created with them. */
export function PlannedTasks(props: {
  projectId: string;
  session: api.WizardSession;
  onFinalized(): Promise<unknown>;
}) {
  const { projectId, session, onFinalized } = props;
  const agents = useQuery(agentQueries.agentsOf(projectId));
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  const draft = useTaskDraft(session);
  const { tasks } = draft;
  const [addedRef, setAddedRef] = useState<string>();
  const edit = useEdit(projectId, session, 'tasks');
  const list = useRef<HTMLOListElement>(null);
  useFocusOnMistake(list, edit.error);
  const mayChange = useMay('member');
  const isReadOnly = session.status === 'finalized' || !mayChange;
  useEditing(projectId, session.sessionId, 'tasks', draft.isChanged && !isReadOnly);
  return (
    <div className="stack">
      <ol className="stack plain-list" aria-label="Planned tasks" ref={list}>
        {tasks.map((task, i) => (
          <PlannedTaskItem
            key={task.ref}
            task={task}
            number={i + 1}
            agents={agents.data}
            repositories={repositories.data}
            tasks={tasks}
            repositoryId={repositoryOf(task, session)}
            expected={expectedOf(session, task.ref)}
            isReadOnly={isReadOnly}
            isAdded={task.ref === addedRef}
            // A title that was corrected is no longer wrong.
            problem={task.title.trim() === '' ? fieldError(edit.error, `tasks.${i}.title`, titleOf(i)) : undefined}
            onChange={(change) => draft.update(task.ref, change)}
            onRemove={tasks.length > 1 ? () => draft.remove(task.ref) : undefined}
          />
        ))}
      </ol>
      {!isReadOnly && (
        <>
          <div className="row wrap-row">
            {tasks.length < maxTasks && (
              <Button size="small" leadingVisual={PlusIcon} onClick={() => setAddedRef(draft.add())}>
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
            labels={Object.fromEntries(
              tasks.flatMap((_, i) => [
                [`tasks.${i}.title`, titleOf(i)],
                [`tasks.${i}.description`, descriptionOf(i)],
              ]),
            )}
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

/** Returns the repository of a task, which is the first one of the plan if the task names none. */
const repositoryOf = (task: api.PlannedTask, { repositoryIds, repositoryId }: api.WizardSession) =>
  task.repositoryId ?? repositoryIds[0] ?? repositoryId;

const titleOf = (at: number) => `Title of task ${at + 1}`;
const descriptionOf = (at: number) => `Description of task ${at + 1}`;

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
  const [name, setName] = useState((session.prd?.title ?? planName(session)).replace(/\s+/g, ' '));
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
      <TitleField label="Sprint name" value={name} onChange={setName} />
      <div>
        <Button variant="primary" loading={create.isPending} onClick={() => create.mutate()}>
          Create sprint with {plural(count, 'task')}
        </Button>
      </div>
    </>
  );
}

function PlannedTaskItem(props: {
  task: api.PlannedTask;
  number: number;
  agents: api.AgentEntry[] | undefined;
  repositories: api.RepositoryEntry[] | undefined;
  /** All tasks of the plan. */
  tasks: api.PlannedTask[];
  /** The repository of the task; null for the project's primary one. */
  repositoryId: string | null;
  /** What is expected of the task, in sentences; empty if nothing is known. */
  expected: string;
  isReadOnly: boolean;
  /** The person has just added it. */
  isAdded: boolean;
  /** Why its title was refused. */
  problem: string | undefined;
  onChange(change: Partial<api.PlannedTask>): void;
  /** Undefined if this is the only task, which cannot be removed. */
  onRemove: (() => void) | undefined;
}) {
  const { task, number, tasks, agents, repositories, repositoryId, expected, isReadOnly, isAdded, problem } = props;
  const { onChange, onRemove } = props;
  return (
    <li className="planned">
      <div className="row bottom-aligned">
        <TitleField
          className="grow"
          label={titleOf(number - 1)}
          hasFocus={isAdded}
          problem={problem}
          instead="the description"
          isDisabled={isReadOnly}
          value={task.title}
          onChange={(title) => onChange({ title })}
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
          none={repositoryId === null ? 'Primary repository' : undefined}
          value={repositoryId}
          options={repositories}
          isReadOnly={isReadOnly}
          onChoose={(id) => onChange({ repositoryId: id })}
        />
      </div>
      {task.ownerReason !== null && <p className="muted small wrap">Why this agent: {task.ownerReason}</p>}
      <FormControl disabled={isReadOnly}>
        <FormControl.Label>{descriptionOf(number - 1)}</FormControl.Label>
        <Textarea
          block
          rows={4}
          resize="vertical"
          maxLength={50_000}
          value={task.description}
          onChange={(event) => onChange({ description: event.target.value })}
        />
      </FormControl>
      <Dependencies
        task={task}
        number={number}
        tasks={tasks}
        isReadOnly={isReadOnly}
        onChange={(dependsOn) => onChange({ dependsOn })}
      />
      {expected !== '' && <p className="muted small wrap">{expected}</p>}
    </li>
  );
}

/** Shows which other tasks of the plan a task waits for, with a menu that changes them. */
function Dependencies(props: {
  task: api.PlannedTask;
  number: number;
  tasks: api.PlannedTask[];
  isReadOnly: boolean;
  onChange(dependsOn: string[]): void;
}) {
  const { task, number, tasks, isReadOnly, onChange } = props;
  const { dependsOn } = task;
  const waiting = dependentsOf(task.ref, tasks);
  const others = [...tasks.entries()].filter(([, { ref }]) => ref !== task.ref);
  const named = others.filter(([, { ref }]) => dependsOn.includes(ref));
  const text = named.map(([i, { title }]) => title.trim() || `task ${i + 1}`).join('; ');
  if (isReadOnly || others.length === 0)
    return text === '' ? null : <p className="muted small wrap">Depends on: {text}</p>;
  const toggle = (ref: string) =>
    onChange(dependsOn.includes(ref) ? dependsOn.filter((each) => each !== ref) : [...dependsOn, ref]);
  return (
    <div className="row wrap-row">
      <ActionMenu>
        <ActionMenu.Button size="small" aria-label={`Depends on (task ${number})`}>
          Depends on
        </ActionMenu.Button>
        <ActionMenu.Overlay width="medium">
          <ActionList selectionVariant="multiple">
            {others.map(([i, { ref, title }]) => (
              <ActionList.Item
                key={ref}
                selected={dependsOn.includes(ref)}
                {...(waiting.has(ref) ? { inactiveText: 'It depends on this task.' } : {})}
                onSelect={(event) => {
                  // The menu stays open, so that several tasks can be chosen.
                  event.preventDefault();
                  toggle(ref);
                }}
              >
                {i + 1}. {title.trim() || 'Without a title'}
              </ActionList.Item>
            ))}
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      <span className="muted small wrap">{text || 'Nothing'}</span>
    </div>
  );
}

function Choice(props: {
  label: string;
  /** The name of no choice; undefined if there must be one. */
  none: string | undefined;
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
      {none !== undefined && <Select.Option value="">{none}</Select.Option>}
      {options?.map(({ id, name }) => (
        <Select.Option key={id} value={id}>
          {name}
        </Select.Option>
      ))}
    </Select>
  );
}

interface Draft {
  /** The tasks as they were when the person began to edit. */
  of: api.PlannedTask[];
  tasks: api.PlannedTask[];
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Returns the planned tasks with the edits made in this browser, which survive reloads. When somebody else changes the
 * tasks, unsaved edits stay.
 */
function useTaskDraft(session: api.WizardSession) {
  const current = writtenParts(session).tasks ?? [];
  const [draft, setDraft] = useState(() => storedDraft(session));
  const isChanged = !isSame(draft.tasks, draft.of);
  if (!isChanged && !isSame(draft.of, current)) setDraft({ of: current, tasks: current });
  useEffect(() => {
    if (isChanged) storeText(sessionStorage, storageKey(session), JSON.stringify(draft));
    else sessionStorage.removeItem(storageKey(session));
  }, [session, draft, isChanged]);
  const setTasks = (next: (before: api.PlannedTask[]) => api.PlannedTask[]) =>
    setDraft((before) => ({ ...before, tasks: next(before.tasks) }));
  return {
    tasks: draft.tasks,
    isChanged,
    update: (ref: string, change: Partial<api.PlannedTask>) =>
      setTasks((before) => before.map((task) => (task.ref === ref ? { ...task, ...change } : task))),
    remove: (ref: string) =>
      setTasks((before) =>
        before
          .filter((task) => task.ref !== ref)
          .map((task) => ({ ...task, dependsOn: task.dependsOn.filter((each) => each !== ref) })),
      ),
    /** Returns the reference of the new task. */
    add: () => {
      const added = emptyTask(draft.tasks);
      setTasks((before) => [...before, added]);
      return added.ref;
    },
    /** Drops the unsaved edits and continues with these tasks. */
    reset: (tasks: api.PlannedTask[] = current) => setDraft({ of: tasks, tasks }),
  };
}

function emptyTask(tasks: api.PlannedTask[]): api.PlannedTask {
  let number = tasks.length + 1;
  while (tasks.some(({ ref }) => ref === `task-${number}`)) number += 1;
  const ref = `task-${number}`;
  return { ref, title: '', description: '', owner: null, ownerReason: null, repositoryId: null, dependsOn: [] };
}

const storageKey = ({ sessionId }: api.WizardSession) => `plan ${sessionId}`;

function storedDraft(session: api.WizardSession): Draft {
  const tasks = writtenParts(session).tasks ?? [];
  const stored = JSON.parse(sessionStorage.getItem(storageKey(session)) ?? 'null') as Draft | null;
  return stored !== null && Array.isArray(stored.of) && Array.isArray(stored.tasks) ? stored : { of: tasks, tasks };
}
