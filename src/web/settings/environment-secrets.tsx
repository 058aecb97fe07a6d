import { Button, FormControl, TextInput, useConfirm } from '@primer/react';
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { submitOnce } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { RowActions, RowLine } from '../rows/row-actions.tsx';
import { Owners, RepositoryChoice } from './repository-choice.tsx';

/**
 * Lists the environment secrets of a project with the repositories that may use them. One can be added, replaced and
 * deleted; values are never shown.
 */
export function EnvironmentSecrets({ projectId }: { projectId: string }) {
  const secrets = useQuery(queries.environmentSecrets(projectId));
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  const [replaced, setReplaced] = useState<api.EnvironmentSecret>();
  return (
    <Section title="Environment secrets">
      <div className="stack">
        <p className="muted">
          Set-up gets the secrets that <code>secrets</code> in .deckhand.yml names, as variables, if they belong to its
          repository. Everybody who can write to a repository can read its secrets. Agents and checks never get them.
        </p>
        <QueryResult query={repositories} rows={1}>
          {(all) => (
            <>
              <QueryResult query={secrets} rows={1}>
                {(known) => (
                  <ul className="list" aria-label="Environment secrets">
                    {known.map((secret) => (
                      <SecretItem
                        key={secret.name}
                        secret={secret}
                        all={all}
                        projectId={projectId}
                        onReplace={() => setReplaced(secret)}
                      />
                    ))}
                  </ul>
                )}
              </QueryResult>
              <SecretForm
                key={replaced?.name ?? ''}
                projectId={projectId}
                all={all}
                replaced={replaced}
                onSaved={() => setReplaced(undefined)}
              />
            </>
          )}
        </QueryResult>
      </div>
    </Section>
  );
}

/** Loads again what shows the secrets of a project. */
async function refresh(client: QueryClient, projectId: string): Promise<void> {
  await client.invalidateQueries({ queryKey: queries.environmentSecrets(projectId).queryKey });
  await client.invalidateQueries({ queryKey: queries.unassignedSecrets().queryKey });
}

interface ItemProps {
  secret: api.EnvironmentSecret;
  all: api.RepositoryEntry[];
  projectId: string;
  onReplace(): void;
}

function SecretItem({ secret: { name, createdAt, repositories, hosts }, all, projectId, onReplace }: ItemProps) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const removal = useMutation({
    mutationFn: () => api.removeEnvironmentSecret(projectId, name),
    onSuccess: () => {
      notify(`${name} deleted`, 'success');
      return refresh(client, projectId);
    },
    onError: notifyError,
  });
  const remove = async () => {
    const isConfirmed = await confirm({
      title: `Delete ${name}?`,
      content: 'Set-up fails in repositories whose .deckhand.yml names this secret.',
      confirmButtonContent: 'Delete secret',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) removal.mutate();
  };
  return (
    <li className="list-item">
      <RowLine
        actions={
          <RowActions
            of={name}
            actions={[
              { name: 'Replace', label: `Replace ${name}`, onSelect: onReplace },
              {
                name: 'Delete',
                label: `Delete ${name}`,
                isDanger: true,
                isBusy: removal.isPending,
                onSelect: () => void remove(),
              },
            ]}
          />
        }
      >
        <span className="strong wrap">{name}</span>
        <Owners all={all} chosen={repositories} />
        {hosts.length > 0 && <span className="muted wrap">Registries: {hosts.join(', ')}</span>}
        <span className="muted">
          added <TimeAgo at={createdAt} />
        </span>
      </RowLine>
    </li>
  );
}

interface FormProps {
  projectId: string;
  all: api.RepositoryEntry[];
  /** The secret whose repositories and registries the form begins with. Its value is unknown here. */
  replaced: api.EnvironmentSecret | undefined;
  onSaved(): void;
}

function SecretForm({ projectId, all, replaced, onSaved }: FormProps) {
  const client = useQueryClient();
  const onlyOne = all.length === 1 ? all.map(({ id }) => id) : [];
  const [name, setName] = useState(replaced?.name ?? '');
  const [value, setValue] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(replaced?.repositories ?? onlyOne);
  const [hosts, setHosts] = useState(replaced?.hosts.join(', ') ?? '');
  const save = useMutation({
    mutationFn: () =>
      api.setEnvironmentSecret(projectId, name.trim(), {
        value,
        repositories: [...chosen],
        hosts: hosts.split(/[\s,]+/).filter((host) => host !== ''),
      }),
    onSuccess: () => {
      notify(`${name.trim()} saved`, 'success');
      setName('');
      setValue('');
      setChosen(onlyOne);
      setHosts('');
      onSaved();
      return refresh(client, projectId);
    },
    onError: notifyError,
  });
  return (
    <form className="stack" onSubmit={submitOnce(save)}>
      <div className="fields">
        <FormControl required>
          <FormControl.Label>Secret name</FormControl.Label>
          <TextInput
            block
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
            pattern="\s*[A-Z][A-Z0-9_]*\s*"
            title="Capital letters, digits and _"
            placeholder="NPM_TOKEN"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <FormControl.Caption>
            Capital letters, digits and _. If a secret with this name exists, this one replaces it.
          </FormControl.Caption>
        </FormControl>
        <FormControl required>
          <FormControl.Label>Secret value</FormControl.Label>
          <TextInput
            block
            type="password"
            autoComplete="new-password"
            autoFocus={replaced !== undefined}
            minLength={8}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
          <FormControl.Caption>At least 8 characters, on one line. It is never shown again.</FormControl.Caption>
        </FormControl>
        <FormControl>
          <FormControl.Label>Registries</FormControl.Label>
          <TextInput
            block
            autoComplete="off"
            spellCheck={false}
            placeholder="registry.example.org"
            value={hosts}
            onChange={(event) => setHosts(event.target.value)}
          />
          <FormControl.Caption>
            Hosts that may get it as a credential of <code>imageAuth</code>. Empty for a secret of set-up.
          </FormControl.Caption>
        </FormControl>
      </div>
      {all.length === 0 ? (
        <p className="muted">Connect a repository to assign the secret to it.</p>
      ) : (
        <RepositoryChoice all={all} chosen={chosen} onChange={setChosen} />
      )}
      <div>
        <Button type="submit" loading={save.isPending}>
          Save secret
        </Button>
      </div>
    </form>
  );
}
