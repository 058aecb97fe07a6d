import { Button, Checkbox, Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useSearchParams } from 'react-router';
import * as api from '../api.ts';
import { counted } from '../display/plural.ts';
import { FormDialog, FormEnd } from '../forms/form-dialog.tsx';
import { Chosen } from '../forms/select-field.tsx';
import { mutateOnce } from '../forms/submit-once.ts';
import { notify } from '../frame/notices.tsx';
import { putTask } from '../live/project-events.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

/** The service takes so many at once. */
const mostAtOnce = 100;

/** The lines of a pasted list, without their bullets, numbers and boxes. */
export function titlesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX]\]\s*)?/, '').trim())
    .filter((title) => title !== '');
}

/** One task with all that belongs to it, or many by their titles. */
export function NewTask({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [query, setQuery] = useSearchParams();
  const isMany = query.get('new') === 'many';
  return (
    <FormDialog title={isMany ? 'New tasks' : 'New task'} onClose={onClose} width="xlarge">
      <div className="stack">
        <Button
          variant="invisible"
          onClick={() =>
            setQuery((now) => {
              now.set('new', isMany ? 'one' : 'many');
              return now;
            })
          }
        >
          {isMany ? 'Make one task instead' : 'Paste a list of titles instead'}
        </Button>
        <Form key={String(isMany)} projectId={projectId} isMany={isMany} onClose={onClose} />
      </div>
    </FormDialog>
  );
}

function Form({ projectId, isMany, onClose }: { projectId: string; isMany: boolean; onClose(): void }) {
  const client = useQueryClient();
  const agents = useQuery(q.agentsOf(projectId));
  const repositories = useQuery(q.repositories(projectId));
  const sprints = useQuery(q.sprints(projectId));
  const [titles, setTitles] = useState('');
  const [given, setGiven] = useState({ description: '', owner: '', repositoryId: '', sprintId: '', issue: false });
  const [problem, setProblem] = useState('');
  const set = (change: Partial<typeof given>) => setGiven((now) => ({ ...now, ...change }));
  const wanted = isMany ? titlesOf(titles) : [titles.trim()].filter((t) => t !== '');
  const make = useMutation({
    mutationFn: async () => {
      const { description, owner, repositoryId, sprintId, issue } = given;
      const rest = {
        ...(owner === '' ? {} : { owner }),
        ...(repositoryId === '' ? {} : { repositoryId }),
        ...(sprintId === '' ? {} : { sprintId }),
        ...(description === '' ? {} : { description }),
        ...(issue ? { issue } : {}),
      };
      const bodies = wanted.map((title) => ({ title, ...rest }));
      if (!isMany) return [await api.postProjectsByProjectIdTasks(projectId, bodies[0] ?? { title: '' })];
      return api.postProjectsByProjectIdTasksBulk(projectId, { tasks: bodies });
    },
    onSuccess: (made) => {
      for (const task of made) putTask(client, task);
      notify(made.length === 1 ? 'The task is made.' : `${made.length} tasks are made.`, 'success');
      onClose();
    },
    onError: (error) => setProblem(explain(error)),
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (wanted.length === 0) return setProblem('Give it a title.');
    if (wanted.length > mostAtOnce) return setProblem(`At most ${mostAtOnce} at once; these are ${wanted.length}.`);
    mutateOnce(make);
  };
  return (
    <form className="stack" onSubmit={send}>
      {problem !== '' && <Flash variant="danger">{problem}</Flash>}
      {isMany ? (
        <FormControl required>
          <FormControl.Label>Titles, one a line</FormControl.Label>
          <Textarea block rows={8} value={titles} onChange={(event) => setTitles(event.target.value)} />
          <FormControl.Caption>{counted(wanted.length, 'task')}</FormControl.Caption>
        </FormControl>
      ) : (
        <>
          <FormControl required>
            <FormControl.Label>Title</FormControl.Label>
            <TextInput block maxLength={200} value={titles} onChange={(event) => setTitles(event.target.value)} />
          </FormControl>
          <FormControl>
            <FormControl.Label>Description</FormControl.Label>
            <Textarea
              block
              rows={6}
              resize="vertical"
              maxLength={50_000}
              value={given.description}
              onChange={(event) => set({ description: event.target.value })}
            />
            <FormControl.Caption>Markdown. What should be true afterwards, and how it shows.</FormControl.Caption>
          </FormControl>
        </>
      )}
      <div className="fields">
        <Chosen label="Agent" none="No agent" options={agents.data} onChosen={(owner) => set({ owner })} />
        <Chosen
          label="Repository"
          none="The primary one"
          options={repositories.data}
          onChosen={(repositoryId) => set({ repositoryId })}
        />
        <Chosen
          label="Sprint"
          none="No sprint"
          options={sprints.data?.filter((s) => s.status === 'planning' || s.status === 'active')}
          onChosen={(sprintId) => set({ sprintId })}
        />
      </div>
      <FormControl>
        <Checkbox checked={given.issue} onChange={(event) => set({ issue: event.target.checked })} />
        <FormControl.Label>{isMany ? 'Make a GitHub issue for each' : 'Make a GitHub issue for it'}</FormControl.Label>
      </FormControl>
      <FormEnd
        act={isMany ? `Make ${wanted.length} tasks` : 'Make the task'}
        isBusy={make.isPending}
        onClose={onClose}
      />
    </form>
  );
}
