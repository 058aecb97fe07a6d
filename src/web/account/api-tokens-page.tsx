import { Button, Flash, FormControl, Heading, Label, Select, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Scope, scopes } from '../../domain/agent.ts';
import * as api from '../api.ts';
import { exactTime, sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { Day, TimeAgo } from '../display/times.tsx';
import { submitOnce } from '../forms/submit.ts';
import { copy, notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { RowActions, RowLine } from '../rows/row-actions.tsx';

/** What each scope allows, as a choice. */
const scopeNames: Record<Scope, string> = {
  read: 'Read: change nothing',
  write: 'Write: do what members do',
  admin: 'Admin: everything you may do',
};

/** Shows the API tokens of the signed-in person. A new token is shown only once. */
export function ApiTokensPage() {
  usePageTitle('API tokens');
  const query = useQuery(queries.myTokens());
  const [created, setCreated] = useState<api.NewApiToken>();
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        API tokens
      </Heading>
      <p className="muted">
        Programs send a token as <code>Authorization: Bearer …</code>. A token allows what its scope says, and never
        more than you may do. See the <a href="/api/v1/docs/">API documentation</a>.
      </p>
      {created && <CreatedToken token={created} />}
      <CreateToken onCreated={setCreated} />
      <QueryResult query={query}>
        {(tokens) => (
          <TokenList
            tokens={tokens}
            onRevoked={(id) => setCreated((shown) => (shown?.id === id ? undefined : shown))}
          />
        )}
      </QueryResult>
    </div>
  );
}

function CreatedToken({ token: { name, token } }: { token: api.NewApiToken }) {
  return (
    <Flash variant="success">
      <p>
        Token <strong>{name}</strong> created. Copy it now. You will not be able to see it again.
      </p>
      <code className="wrap" data-testid="token">
        {token}
      </code>{' '}
      <Button size="small" onClick={() => copy(token, 'Token')}>
        Copy
      </Button>
    </Flash>
  );
}

function CreateToken({ onCreated }: { onCreated(token: api.NewApiToken): void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [scope, setScope] = useState<Scope>('read');
  const create = useMutation({
    mutationFn: () => api.createToken({ name: name.trim(), expiresInDays: Number(days), scopes: scope }),
    onSuccess: (token) => {
      onCreated(token);
      setName('');
      void client.invalidateQueries({ queryKey: ['tokens'] });
    },
    onError: notifyError,
  });
  return (
    <form className="row wrap-row bottom-aligned" onSubmit={submitOnce(create)}>
      <FormControl required>
        <FormControl.Label>Name</FormControl.Label>
        <TextInput maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </FormControl>
      <FormControl required>
        <FormControl.Label>Expires in (days)</FormControl.Label>
        <TextInput type="number" min={1} max={366} value={days} onChange={(event) => setDays(event.target.value)} />
      </FormControl>
      <FormControl>
        <FormControl.Label>Scope</FormControl.Label>
        <Select value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
          {scopes.map((each) => (
            <Select.Option key={each} value={each}>
              {scopeNames[each]}
            </Select.Option>
          ))}
        </Select>
      </FormControl>
      <Button type="submit" variant="primary" loading={create.isPending}>
        Create token
      </Button>
    </form>
  );
}

function TokenList({ tokens, onRevoked }: { tokens: api.ApiToken[]; onRevoked(id: string): void }) {
  if (tokens.length === 0) return <EmptyState title="No API tokens yet">Create one above.</EmptyState>;
  return (
    <ul className="list">
      {tokens.map((token) => (
        <TokenItem key={token.id} token={token} onRevoked={onRevoked} />
      ))}
    </ul>
  );
}

function TokenItem({ token, onRevoked }: { token: api.ApiToken; onRevoked(id: string): void }) {
  // The API calls the end of the token, by which its owner recognizes it, its prefix.
  const { id, name, prefix: end, scopes: scope, expiresAt, lastUsedAt } = token;
  const client = useQueryClient();
  const confirm = useConfirm();
  const revoke = useMutation({
    mutationFn: () => api.revokeToken(id),
    onSuccess: () => {
      onRevoked(id);
      return client.invalidateQueries({ queryKey: ['tokens'] });
    },
    onError: notifyError,
  });
  const confirmAndRevoke = async () => {
    const isConfirmed = await confirm({
      title: `Revoke ${name}?`,
      content: 'Programs that use this token lose access immediately.',
      confirmButtonContent: 'Revoke token',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) revoke.mutate();
  };
  return (
    <li className="list-item">
      <RowLine
        actions={
          <RowActions
            of={name}
            actions={[
              { name: 'Revoke', label: `Revoke ${name}`, isDanger: true, onSelect: () => void confirmAndRevoke() },
            ]}
          />
        }
      >
        <span className="strong wrap">{name}</span> <code>…{end}</code>{' '}
        <Label title={scopeNames[scope]}>{sentenceCase(scope)}</Label>
        <span className="muted">
          {Date.parse(expiresAt) < Date.now() ? 'expired' : 'expires'} on{' '}
          <span title={exactTime(expiresAt)}>
            <Day date={expiresAt} />
          </span>{' '}
          ·{' '}
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              last used <TimeAgo at={lastUsedAt} />
            </>
          )}
        </span>
      </RowLine>
    </li>
  );
}
