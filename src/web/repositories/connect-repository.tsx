import { LockIcon, RepoIcon } from '@primer/octicons-react';
import { Button, Checkbox, Flash, FormControl, Heading, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { submitOnce } from '../forms/submit.ts';
import { notify } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { accessText, foundText, matchesOf } from './choosing.ts';

const labels = { url: 'URL', name: 'Name', defaultBranch: 'Default branch' };
const emptyFields = { name: '', url: '', defaultBranch: 'main', isDocsRepo: false };

export function ConnectRepository({ projectId }: { projectId: string }) {
  const client = useQueryClient();
  const [fields, setFields] = useState(emptyFields);
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }));
  // The service accepts every address, so the connection is tested at once.
  const test = useMutation({
    mutationFn: async ({ id, name }: api.Repository) => ({ name, ...(await api.validateRepository(id)) }),
  });
  const connect = useMutation({
    mutationFn: () => api.connectRepository({ projectId, ...fields, name: fields.name.trim(), url: fields.url.trim() }),
    onMutate: () => test.reset(),
    onSuccess: (repository) => {
      notify(`Connected ${repository.name}`, 'success');
      test.mutate(repository);
      setFields(emptyFields);
      for (const list of ['installed-repositories', 'onboarding'])
        void client.invalidateQueries({ queryKey: [list, projectId] });
      return client.invalidateQueries({ queryKey: ['repositories', projectId] });
    },
  });
  return (
    <form className="box stack" onSubmit={submitOnce(connect)}>
      <Heading as="h2" variant="small">
        Connect a repository
      </Heading>
      {connect.error && <Flash variant="danger">{errorMessage(connect.error, labels)}</Flash>}
      {test.data?.valid === false && (
        <Flash variant="warning" role="alert">
          {test.data.name} is connected, but agents cannot work in it yet. {foundText(test.data)}
        </Flash>
      )}
      <RepositoryPicker
        projectId={projectId}
        onPick={({ url, name, defaultBranch }) => set({ url, name, defaultBranch })}
      />
      <div className="fields">
        <FormControl required>
          <FormControl.Label>URL</FormControl.Label>
          <TextInput
            block
            placeholder="https://github.com/owner/name"
            data-missing="Choose a repository or enter its URL."
            value={fields.url}
            onChange={({ target: { value: url } }) => set({ url, ...nameFrom(url) })}
          />
        </FormControl>
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block value={fields.name} onChange={(event) => set({ name: event.target.value })} />
        </FormControl>
        <FormControl required>
          <FormControl.Label>Default branch</FormControl.Label>
          <TextInput
            block
            value={fields.defaultBranch}
            onChange={(event) => set({ defaultBranch: event.target.value })}
          />
        </FormControl>
      </div>
      <FormControl>
        <Checkbox checked={fields.isDocsRepo} onChange={(event) => set({ isDocsRepo: event.target.checked })} />
        <FormControl.Label>Use for documentation</FormControl.Label>
        <FormControl.Caption>
          The requirements of a plan are proposed there as a document, once its sprint is created.
        </FormControl.Caption>
      </FormControl>
      <div>
        <Button type="submit" variant="primary" loading={connect.isPending}>
          Connect repository
        </Button>
      </div>
    </form>
  );
}

/** Suggests the last part of the URL as the name, if it is a valid one. */
function nameFrom(url: string): { name?: string } {
  const name =
    url
      .split('/')
      .at(-1)
      ?.replace(/\.git$/, '') ?? '';
  return /^[\w.-]*$/.test(name) ? { name } : {};
}

const maxShown = 8;

/** Lets people search the repositories that the GitHub App can access, and pick one. */
function RepositoryPicker(props: { projectId: string; onPick(repository: api.InstalledRepository): void }) {
  const { projectId, onPick } = props;
  const [search, setSearch] = useState('');
  const { data: repositories = [], isError } = useQuery(repositoryQueries.installedRepositories(projectId));
  if (isError) return <p className="muted">The repositories on GitHub could not be listed. Enter a URL below.</p>;
  if (repositories.length === 0) return null;
  const matches = matchesOf(repositories, search);
  const pick = (repository: api.InstalledRepository) => {
    onPick(repository);
    setSearch('');
  };
  const pickFirst = () => {
    const first = matches.find(({ isConnected }) => !isConnected);
    if (search !== '' && first !== undefined) pick(first);
  };
  return (
    <div className="stack tight">
      <FormControl>
        <FormControl.Label>Find a repository</FormControl.Label>
        <TextInput
          block
          leadingVisual={RepoIcon}
          placeholder="Search by owner or name"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          // Enter would submit the form around the field, whose URL is still empty.
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            pickFirst();
          }}
        />
        <FormControl.Caption>{accessText(repositories)}</FormControl.Caption>
      </FormControl>
      <ul className="list" aria-label="Repositories on GitHub">
        {matches.slice(0, maxShown).map((repository) => (
          <li key={repository.url}>
            <button
              type="button"
              className="list-button"
              disabled={repository.isConnected}
              onClick={() => pick(repository)}
            >
              <bdi>{repository.fullName}</bdi> {repository.isPrivate && <LockIcon aria-label="Private" size={12} />}
              {repository.isConnected && <span className="muted"> Connected</span>}
            </button>
          </li>
        ))}
      </ul>
      {matches.length > maxShown && (
        <p className="muted">
          Showing {maxShown} of {formatNumber(matches.length)} matches
        </p>
      )}
      {search !== '' && matches.length === 0 && <p className="muted">No repositories match. Enter a URL below.</p>}
    </div>
  );
}
