import { TrashIcon } from '@primer/octicons-react';
import { Button, Flash, FormControl, IconButton, Select, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { counted } from '../display/plural.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

/** What was made of these tasks before a reload. */
function draftOf({ sessionId, tasks }: api.WizardSession): api.PlannedTask[] {
  const kept = JSON.parse(sessionStorage.getItem(`plan ${sessionId}`) ?? '{}') as {
    of?: unknown;
    tasks?: api.PlannedTask[];
  };
  return JSON.stringify(kept.of) === JSON.stringify(tasks) ? (kept.tasks ?? tasks ?? []) : (tasks ?? []);
}

/** The tasks of a plan as a table to be edited, and the sprint that is made of them. */
export function PlannedTasks(props: { projectId: string; session: api.WizardSession; onFinal(): unknown }) {
  const { projectId, session, onFinal } = props;
  const agents = useQuery(q.agentsOf(projectId));
  const go = useNavigate();
  const [tasks, setTasks] = useState(() => draftOf(session));
  useEffect(() => {
    sessionStorage.setItem(`plan ${session.sessionId}`, JSON.stringify({ of: session.tasks, tasks }));
  }, [session, tasks]);
  const [name, setName] = useState((session.prd?.title ?? session.goal).replace(/\s+/g, ' ').slice(0, 200));
  const isFinal = session.status === 'finalized';
  const isChanged = JSON.stringify(tasks) !== JSON.stringify(session.tasks);
  const make = useMutation({
    mutationFn: () =>
      api.postProjectsByProjectIdWizardBySessionIdFinalize(projectId, session.sessionId, {
        name: name.trim(),
        ...(isChanged ? { tasks } : {}),
      }),
    onSuccess: async ({ sprint }) => {
      await onFinal();
      await go(`/sprints/${sprint.id}`);
    },
  });
  const change = (ref: string, next: Partial<api.PlannedTask>) =>
    setTasks((now) => now.map((task) => (task.ref === ref ? { ...task, ...next } : task)));
  const remove = (ref: string) =>
    setTasks((now) =>
      now.filter((t) => t.ref !== ref).map((t) => ({ ...t, dependsOn: t.dependsOn.filter((each) => each !== ref) })),
    );
  const titleOf = (ref: string) => tasks.find((t) => t.ref === ref)?.title ?? ref;
  return (
    <div className="stack">
      <ol className="stack plain-list" aria-label="Tasks of the plan">
        {tasks.map((task, i) => (
          <li key={task.ref} className="planned">
            <div className="row">
              <TextInput
                block
                aria-label={`Title of task ${i + 1}`}
                maxLength={200}
                disabled={isFinal}
                value={task.title}
                onChange={(event) => change(task.ref, { title: event.target.value })}
              />
              <Select
                aria-label={`Agent of task ${i + 1}`}
                disabled={isFinal}
                value={task.owner ?? ''}
                onChange={(event) => change(task.ref, { owner: event.target.value === '' ? null : event.target.value })}
              >
                <Select.Option value="">No agent</Select.Option>
                {agents.data?.map(({ id, name: agent }) => (
                  <Select.Option key={id} value={id}>
                    {agent}
                  </Select.Option>
                ))}
              </Select>
              {!isFinal && (
                <IconButton
                  icon={TrashIcon}
                  aria-label={`Remove task ${i + 1}`}
                  disabled={tasks.length === 1}
                  onClick={() => remove(task.ref)}
                />
              )}
            </div>
            <Textarea
              block
              rows={2}
              resize="vertical"
              aria-label={`Description of task ${i + 1}`}
              disabled={isFinal}
              value={task.description}
              onChange={(event) => change(task.ref, { description: event.target.value })}
            />
            {task.dependsOn.length > 0 && (
              <p className="muted small wrap">waits for: {task.dependsOn.map(titleOf).join('; ')}</p>
            )}
          </li>
        ))}
      </ol>
      {make.error && <Flash variant="danger">{explain(make.error)}</Flash>}
      {!isFinal && (
        <div className="row wrap-row bottom-aligned">
          <FormControl required>
            <FormControl.Label>Name of the sprint</FormControl.Label>
            <TextInput maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
          </FormControl>
          <Button variant="primary" loading={make.isPending} onClick={() => make.mutate()}>
            Make the sprint with {counted(tasks.length, 'task')}
          </Button>
        </div>
      )}
    </div>
  );
}
