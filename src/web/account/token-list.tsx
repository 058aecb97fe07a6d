import { Button, useConfirm } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { EmptyState } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { notifyError } from '../frame/notices.tsx';

export function TokenList({ tokens }: { tokens: api.ApiToken[] }) {
  if (tokens.length === 0) return <EmptyState title="No API tokens yet">Create one above.</EmptyState>;
  return (
    <ul className="list">
      {tokens.map((token) => (
        <TokenItem key={token.id} token={token} />
      ))}
    </ul>
  );
}

function TokenItem({ token: { id, name, prefix, expiresAt, lastUsedAt } }: { token: api.ApiToken }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const revoke = useMutation({
    mutationFn: () => api.revokeToken(id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
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
      <span className="strong wrap">{name}</span> <code>{prefix}…</code>
      <span className="muted">
        {Date.parse(expiresAt) < Date.now() ? 'expired' : 'expires'} <TimeAgo at={expiresAt} /> ·{' '}
        {lastUsedAt === null ? (
          'never used'
        ) : (
          <>
            last used <TimeAgo at={lastUsedAt} />
          </>
        )}
      </span>
      <span className="grow" />
      <Button size="small" variant="danger" onClick={() => void confirmAndRevoke()}>
        Revoke
      </Button>
    </li>
  );
}
