import { Button, FormControl, TextInput } from '@primer/react';
import { type QueryKey, type UseQueryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { refuseField } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';

interface TokenState {
  configured: boolean;
  updatedAt: string | null;
}

/**
 * Shows whether a secret of the project is set. The secret can be configured, replaced and removed but is never shown.
 */
export function TokenSetting<K extends QueryKey>(props: {
  title: string;
  description: string;
  query: UseQueryOptions<TokenState, Error, TokenState, K>;
  save(token: string): Promise<unknown>;
  remove(): Promise<unknown>;
}) {
  const { title, description, query, save, remove } = props;
  const client = useQueryClient();
  const state = useQuery(query);
  const change = useMutation({
    mutationFn: (token: string | undefined) => (token === undefined ? remove() : save(token)),
    onSuccess: (_reply, token) => {
      notify(`${title} ${token === undefined ? 'removed' : 'saved'}`, 'success');
      return client.invalidateQueries({ queryKey: query.queryKey });
    },
    onError: notifyError,
  });
  return (
    <Section title={title}>
      <div className="stack">
        <p className="muted">{description}</p>
        <QueryResult query={state} rows={1}>
          {({ configured, updatedAt }) => (
            <>
              <p>
                {configured ? 'Configured' : 'Not configured'}
                {configured && updatedAt && (
                  <>
                    {' '}
                    <TimeAgo at={updatedAt} />
                  </>
                )}
              </p>
              <TokenForm
                key={updatedAt}
                isConfigured={configured}
                isBusy={change.isPending}
                onSave={(token) => change.mutate(token)}
                onRemove={() => change.mutate(undefined)}
              />
            </>
          )}
        </QueryResult>
      </div>
    </Section>
  );
}

function TokenForm(props: { isConfigured: boolean; isBusy: boolean; onSave(token: string): void; onRemove(): void }) {
  const { isConfigured, isBusy, onSave, onRemove } = props;
  const [token, setToken] = useState('');
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!refuseField(event.currentTarget)) onSave(token.trim());
  };
  return (
    <form className="row wrap-row bottom-aligned" onSubmit={onSubmit}>
      <FormControl required>
        <FormControl.Label>{isConfigured ? 'New token' : 'Token'}</FormControl.Label>
        <TextInput
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </FormControl>
      <Button type="submit" loading={isBusy}>
        {isConfigured ? 'Replace' : 'Configure'}
      </Button>
      {isConfigured && (
        <Button variant="danger" onClick={onRemove}>
          Remove
        </Button>
      )}
    </form>
  );
}
