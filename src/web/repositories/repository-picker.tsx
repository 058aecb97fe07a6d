import { LockIcon, RepoIcon } from '@primer/octicons-react';
import { FormControl, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { InstalledRepository } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import * as queries from '../live/queries.ts';
import { accessText, matchesOf } from './repository-matches.ts';

const maxShown = 8;

/** Lets people search the repositories that the GitHub App can access, and pick one. */
export function RepositoryPicker(props: { projectId: string; onPick(repository: InstalledRepository): void }) {
  const { projectId, onPick } = props;
  const [search, setSearch] = useState('');
  const { data: repositories = [], isError } = useQuery(queries.installedRepositories(projectId));
  if (isError) return <p className="muted">The repositories on GitHub could not be listed. Enter a URL below.</p>;
  if (repositories.length === 0) return null;
  const matches = matchesOf(repositories, search);
  const pick = (repository: InstalledRepository) => {
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
