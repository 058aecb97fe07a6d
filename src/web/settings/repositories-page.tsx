import { Button, Checkbox, Flash, FormControl, Heading, Label, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'react-router';
import * as api from '../api.ts';
import { Empty, Shown } from '../display/query-result.tsx';
import { submitting } from '../forms/submit-once.ts';
import { notifyError } from '../frame/notices.tsx';
import { about } from '../frame/service-info.ts';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

export function RepositoriesPage() {
  useTitle('Repositories');
  const { projectId = '' } = useParams();
  const project = useQuery(q.project(projectId));
  const asked = useQuery(q.repositories(projectId));
  const mayChange = project.data !== undefined && project.data.role !== 'member';
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Repositories
      </Heading>
      {project.data?.role === 'member' && (
        <p className="muted">You are a member: an admin or owner of the project connects repositories.</p>
      )}
      <Shown of={asked}>
        {(repositories) =>
          repositories.length === 0 ? (
            <Empty title="No repository yet">
              {about.installUrl && (
                <p>
                  <a href={about.installUrl}>Install the App</a> on GitHub, or connect one below.
                </p>
              )}
            </Empty>
          ) : (
            <ul className="list">
              {repositories.map((repository) => (
                <Repository key={repository.id} repository={repository} mayChange={mayChange} />
              ))}
            </ul>
          )
        }
      </Shown>
      {mayChange && <Connect projectId={projectId} />}
    </div>
  );
}

function Repository({ repository, mayChange }: { repository: api.RepositoryEntry; mayChange: boolean }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const again = () => client.invalidateQueries({ queryKey: ['repositories', repository.projectId] });
  const validate = useMutation({
    mutationFn: () => api.postRepositoriesByIdValidate(repository.id),
    onError: notifyError,
  });
  const change = useMutation({
    mutationFn: (body: { isPrimary?: boolean; isDocsRepo?: boolean }) => api.patchRepositoriesById(repository.id, body),
    onSuccess: again,
    onError: notifyError,
  });
  const remove = useMutation({
    mutationFn: () => api.deleteRepositoriesById(repository.id),
    onSuccess: again,
    onError: notifyError,
  });
  const ask = async () => {
    const isSure = await confirm({
      title: `Disconnect ${repository.name}`,
      content: 'The repository on its host stays as it is.',
      confirmButtonContent: 'Disconnect',
      confirmButtonType: 'danger',
    });
    if (isSure) remove.mutate();
  };
  return (
    <li className="list-item">
      <a href={repository.url} rel="noopener nofollow" target="_blank" className="strong">
        {repository.name}
      </a>
      {repository.isPrimary && <Label variant="accent">primary</Label>}
      {repository.isDocsRepo && <Label variant="done">documentation</Label>}
      <span className="grow" />
      <Button size="small" loading={validate.isPending} onClick={() => validate.mutate()}>
        Validate
      </Button>
      {mayChange && (
        <>
          {!repository.isPrimary && (
            <Button size="small" onClick={() => change.mutate({ isPrimary: true })}>
              Make primary
            </Button>
          )}
          <Button size="small" onClick={() => change.mutate({ isDocsRepo: !repository.isDocsRepo })}>
            {repository.isDocsRepo ? 'Not for documentation' : 'Use for documentation'}
          </Button>
          <Button size="small" variant="danger" onClick={() => void ask()}>
            Disconnect
          </Button>
        </>
      )}
      {validate.data && (
        <Flash variant={validate.data.valid ? 'success' : 'danger'} className="whole" role="status">
          {validate.data.message}
          {validate.data.error && `: ${validate.data.error}`}
          {validate.data.branches && (
            <span>
              {' '}
              Branches: {validate.data.branches.slice(0, 20).join(', ')}
              {validate.data.branches.length > 20 && ` and ${validate.data.branches.length - 20} more`}
            </span>
          )}
        </Flash>
      )}
    </li>
  );
}

function Connect({ projectId }: { projectId: string }) {
  const client = useQueryClient();
  const [given, setGiven] = useState({ name: '', url: '', defaultBranch: 'main', isDocsRepo: false });
  const set = (change: Partial<typeof given>) => setGiven((now) => ({ ...now, ...change }));
  const connect = useMutation({
    mutationFn: () => api.postRepositories({ projectId, ...given, name: given.name.trim(), url: given.url.trim() }),
    onSuccess: () => {
      set({ name: '', url: '', isDocsRepo: false });
      return client.invalidateQueries({ queryKey: ['repositories', projectId] });
    },
  });
  const send = submitting(connect);
  return (
    <form className="box stack" onSubmit={send}>
      <Heading as="h2" variant="small">
        Connect a repository
      </Heading>
      {connect.error && <Flash variant="danger">{explain(connect.error)}</Flash>}
      <div className="fields">
        <FormControl required>
          <FormControl.Label>URL</FormControl.Label>
          <TextInput
            block
            placeholder="https://github.com/owner/name"
            value={given.url}
            onChange={({ target }) => {
              const name =
                target.value
                  .split('/')
                  .at(-1)
                  ?.replace(/\.git$/, '') ?? '';
              set({ url: target.value, ...(/^[\w.-]*$/.test(name) ? { name } : {}) });
            }}
          />
        </FormControl>
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block value={given.name} onChange={(event) => set({ name: event.target.value })} />
        </FormControl>
        <FormControl required>
          <FormControl.Label>Default branch</FormControl.Label>
          <TextInput
            block
            value={given.defaultBranch}
            onChange={(event) => set({ defaultBranch: event.target.value })}
          />
        </FormControl>
      </div>
      <FormControl>
        <Checkbox checked={given.isDocsRepo} onChange={(event) => set({ isDocsRepo: event.target.checked })} />
        <FormControl.Label>For documentation</FormControl.Label>
      </FormControl>
      <div>
        <Button type="submit" variant="primary" loading={connect.isPending}>
          Connect
        </Button>
      </div>
    </form>
  );
}
