import { Button, FormControl, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/section.tsx';
import { TimeAgo } from '../display/times.tsx';
import { submitOnce } from '../forms/submit-once.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';

/** Lists the environment secrets of a project by name. One can be added, replaced and deleted; values are never shown. */
export function EnvironmentSecrets({ projectId }: { projectId: string }) {
  const secrets = useQuery(queries.environmentSecrets(projectId));
  return (
    <Section title="Environment secrets">
      <div className="stack">
        <p className="muted">
          Set-up gets the secrets that <code>secrets</code> in .deckhand.yml names, as variables. Agents and checks
          never get them.
        </p>
        <QueryResult query={secrets} rows={1}>
          {(known) => (
            <ul className="list" aria-label="Environment secrets">
              {known.map((secret) => (
                <SecretItem key={secret.name} secret={secret} projectId={projectId} />
              ))}
            </ul>
          )}
        </QueryResult>
        <SecretForm projectId={projectId} />
      </div>
    </Section>
  );
}

function SecretItem({ secret: { name, createdAt }, projectId }: { secret: api.EnvironmentSecret; projectId: string }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const removal = useMutation({
    mutationFn: () => api.removeEnvironmentSecret(projectId, name),
    onSuccess: () => {
      notify(`${name} deleted`, 'success');
      return client.invalidateQueries({ queryKey: queries.environmentSecrets(projectId).queryKey });
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
      <span className="strong wrap">{name}</span>
      <span className="muted">
        added <TimeAgo at={createdAt} />
      </span>
      <span className="grow" />
      <Button
        size="small"
        variant="danger"
        aria-label={`Delete ${name}`}
        loading={removal.isPending}
        onClick={() => void remove()}
      >
        Delete
      </Button>
    </li>
  );
}

function SecretForm({ projectId }: { projectId: string }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const save = useMutation({
    mutationFn: () => api.setEnvironmentSecret(projectId, name.trim(), { value }),
    onSuccess: () => {
      notify(`${name.trim()} saved`, 'success');
      setName('');
      setValue('');
      return client.invalidateQueries({ queryKey: queries.environmentSecrets(projectId).queryKey });
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
          <FormControl.Caption>Capital letters, digits and _. An existing secret is replaced.</FormControl.Caption>
        </FormControl>
        <FormControl required>
          <FormControl.Label>Secret value</FormControl.Label>
          <TextInput
            block
            type="password"
            autoComplete="new-password"
            minLength={8}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
          <FormControl.Caption>At least 8 characters, on one line. It is never shown again.</FormControl.Caption>
        </FormControl>
      </div>
      <div>
        <Button type="submit" loading={save.isPending}>
          Save secret
        </Button>
      </div>
    </form>
  );
}
