import { Button, Checkbox, FormControl, Heading, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import * as api from '../api.ts';
import { Shown } from '../display/query-result.tsx';
import { submitting } from '../forms/submit-once.ts';
import { AskText } from '../forms/text-dialog.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { TokenSetting } from './token-setting.tsx';

export function SettingsPage() {
  useTitle('Settings');
  const { projectId = '' } = useParams();
  const asked = useQuery(q.project(projectId));
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Settings
      </Heading>
      <Shown of={asked}>
        {(project) => {
          const mayChange = project.role !== 'member';
          return (
            <>
              {!mayChange && (
                <p className="muted">You are a member: an admin or owner of the project can change these.</p>
              )}
              <General key={project.id} project={project} mayChange={mayChange} />
              {mayChange && (
                <>
                  <TokenSetting
                    title="Git token"
                    about="For git and pull requests where the App is not installed; it needs the repo scope."
                    of={q.gitToken(project.id)}
                    set={(token) => api.postProjectsByProjectIdGitToken(project.id, { token })}
                    remove={() => api.deleteProjectsByProjectIdGitToken(project.id)}
                  />
                  <TokenSetting
                    title="Model token"
                    about="The key for the model's provider; without it the service's own is used."
                    of={q.modelToken(project.id)}
                    set={(token) => api.postProjectsByProjectIdModelToken(project.id, { token })}
                    remove={() => api.deleteProjectsByProjectIdModelToken(project.id)}
                  />
                </>
              )}
              {project.role === 'owner' && <DeleteProject project={project} />}
            </>
          );
        }}
      </Shown>
    </div>
  );
}

const budgets = {
  runMinutes: 'Minutes of a run',
  runSteps: 'Steps of a run',
  runTokens: 'Tokens of a run',
  runCostUsd: 'Dollars of a run',
  dayCostUsd: 'Dollars of a day, all runs',
} as const;
type Budget = keyof typeof budgets;
const names = Object.keys(budgets) as Budget[];

function General({ project, mayChange }: { project: api.Project; mayChange: boolean }) {
  // As it was when the page came: what others change meanwhile is not sent back as it was.
  const [was, setWas] = useState(project);
  const client = useQueryClient();
  const [name, setName] = useState(project.name);
  const [description, setDescription] = useState(project.description);
  const [shares, setShares] = useState(project.sharePrivateContext);
  const [limits, setLimits] = useState(
    () => Object.fromEntries(names.map((n) => [n, String(project.budgets[n] ?? '')])) as Record<Budget, string>,
  );
  const save = useMutation({
    mutationFn: () =>
      api.patchProjectsByProjectId(project.id, {
        ...(name.trim() === was.name ? {} : { name: name.trim() }),
        ...(description === was.description ? {} : { description }),
        ...(shares === was.sharePrivateContext ? {} : { sharePrivateContext: shares }),
        budgets: Object.fromEntries(
          names
            .filter((n) => limits[n] !== String(was.budgets[n] ?? ''))
            .map((n) => [n, limits[n] === '' ? null : Number(limits[n])]),
        ),
      }),
    onSuccess: (saved) => {
      setWas(saved);
      client.setQueryData(q.project(project.id).queryKey, saved);
      notify('Saved.', 'success');
    },
    onError: notifyError,
  });
  const send = submitting(save);
  return (
    <form className="box stack" onSubmit={send}>
      <FormControl required disabled={!mayChange}>
        <FormControl.Label>Name</FormControl.Label>
        <TextInput block maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </FormControl>
      <FormControl disabled={!mayChange}>
        <FormControl.Label>Description</FormControl.Label>
        <Textarea block rows={3} value={description} onChange={(event) => setDescription(event.target.value)} />
      </FormControl>
      <fieldset className="plain-fieldset">
        <legend className="strong">Budgets (empty: those of the service)</legend>
        <div className="fields">
          {names.map((each) => (
            <FormControl key={each} disabled={!mayChange}>
              <FormControl.Label>{budgets[each]}</FormControl.Label>
              <TextInput
                type="number"
                min={0}
                step="any"
                block
                value={limits[each]}
                onChange={(event) => setLimits((now) => ({ ...now, [each]: event.target.value }))}
              />
            </FormControl>
          ))}
        </div>
      </fieldset>
      <FormControl disabled={!mayChange}>
        <Checkbox checked={shares} onChange={(event) => setShares(event.target.checked)} />
        <FormControl.Label>Share private context</FormControl.Label>
        <FormControl.Caption>
          Runs whose result shows in a public repository may then read the project's private ones.
        </FormControl.Caption>
      </FormControl>
      {mayChange && (
        <div>
          <Button type="submit" variant="primary" loading={save.isPending}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}

function DeleteProject({ project }: { project: api.Project }) {
  const client = useQueryClient();
  const go = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteProjectsByProjectId(project.id),
    onSuccess: async () => {
      await go('/');
      await client.invalidateQueries({ queryKey: ['projects'] });
    },
    onError: notifyError,
  });
  return (
    <section className="box failure" aria-label="Delete the project">
      <p>
        Everything in the project is gone for good: tasks, runs, sprints, chats. Repositories, branches and pull
        requests on GitHub stay.
      </p>
      <Button variant="danger" loading={remove.isPending} onClick={() => setAsking(true)}>
        Delete the project
      </Button>
      {isAsking && (
        <AskText
          title="Delete the project"
          label={`Type its name, ${project.name}, to delete it`}
          isRequired
          onText={(text) =>
            text === project.name ? remove.mutate() : notify(`That is not its name; nothing was deleted.`, 'danger')
          }
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
