import { Button, Flash, FormControl, Heading, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { Empty, Shown } from '../display/query-result.tsx';
import { When } from '../display/times.tsx';
import { submitting } from '../forms/submit-once.ts';
import { notifyError } from '../frame/notices.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';

/** The API tokens of the person; a new one is shown once. */
export function TokensPage() {
  useTitle('API tokens');
  const asked = useQuery(q.myTokens());
  const [made, setMade] = useState<api.NewApiToken>();
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        API tokens
      </Heading>
      <p className="muted">
        For programs: <code>Authorization: Bearer …</code>. A token can do what you can do.{' '}
        <a href="/api/v1/docs/">API documentation</a>
      </p>
      {made && (
        <Flash variant="success">
          <p>
            The token <strong>{made.name}</strong>. Copy it now; it is not shown again.
          </p>
          <code className="wrap" data-testid="token">
            {made.token}
          </code>{' '}
          <Button size="small" onClick={() => void navigator.clipboard.writeText(made.token).catch(notifyError)}>
            Copy
          </Button>
        </Flash>
      )}
      <NewToken onMade={setMade} />
      <Shown of={asked}>{(tokens) => <Tokens tokens={tokens} />}</Shown>
    </div>
  );
}

function NewToken({ onMade }: { onMade(token: api.NewApiToken): void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const make = useMutation({
    mutationFn: () => api.postMeTokens({ name: name.trim(), expiresInDays: Number(days) }),
    onSuccess: (token) => {
      onMade(token);
      setName('');
      void client.invalidateQueries({ queryKey: ['tokens'] });
    },
    onError: notifyError,
  });
  const send = submitting(make);
  return (
    <form className="row wrap-row bottom-aligned" onSubmit={send}>
      <FormControl required>
        <FormControl.Label>Name</FormControl.Label>
        <TextInput maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </FormControl>
      <FormControl required>
        <FormControl.Label>Days</FormControl.Label>
        <TextInput type="number" min={1} max={366} value={days} onChange={(event) => setDays(event.target.value)} />
      </FormControl>
      <Button type="submit" variant="primary" loading={make.isPending}>
        Make a token
      </Button>
    </form>
  );
}

function Tokens({ tokens }: { tokens: api.ApiToken[] }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const revoke = useMutation({
    mutationFn: (id: string) => api.deleteMeTokensByTokenId(id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
    onError: notifyError,
  });
  const ask = async ({ id, name }: api.ApiToken) => {
    const content = 'Programs that use it are refused from now on.';
    const isSure = await confirm({
      title: `Revoke ${name}`,
      content,
      confirmButtonContent: 'Revoke',
      confirmButtonType: 'danger',
    });
    if (isSure) revoke.mutate(id);
  };
  if (tokens.length === 0) return <Empty title="No tokens yet">Make one above.</Empty>;
  return (
    <ul className="list">
      {tokens.map((token) => (
        <li key={token.id} className="list-item">
          <span className="strong wrap">{token.name}</span> <code>{token.prefix}…</code>
          <span className="muted">
            ends <When at={token.expiresAt} />,{' '}
            {token.lastUsedAt === null ? (
              'never used'
            ) : (
              <>
                used <When at={token.lastUsedAt} />
              </>
            )}
          </span>
          <span className="grow" />
          <Button size="small" variant="danger" onClick={() => void ask(token)}>
            Revoke
          </Button>
        </li>
      ))}
    </ul>
  );
}
