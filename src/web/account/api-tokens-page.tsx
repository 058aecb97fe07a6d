import { Button, Flash, Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewApiToken } from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { CreateToken } from './create-token.tsx';
import { TokenList } from './token-list.tsx';

/** Shows the API tokens of the signed-in person. A new token is shown only once. */
export function ApiTokensPage() {
  usePageTitle('API tokens');
  const query = useQuery(queries.myTokens());
  const [created, setCreated] = useState<NewApiToken>();
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        API tokens
      </Heading>
      <p className="muted">
        Programs send a token as <code>Authorization: Bearer …</code>. A token has the same permissions as you. See the{' '}
        <a href="/api/v1/docs/">API documentation</a>.
      </p>
      {created && <CreatedToken token={created} />}
      <CreateToken onCreated={setCreated} />
      <QueryResult query={query}>{(tokens) => <TokenList tokens={tokens} />}</QueryResult>
    </div>
  );
}

function CreatedToken({ token: { name, token } }: { token: NewApiToken }) {
  return (
    <Flash variant="success">
      <p>
        Token <strong>{name}</strong> created. Copy it now. You will not be able to see it again.
      </p>
      <code className="wrap" data-testid="token">
        {token}
      </code>{' '}
      <Button size="small" onClick={() => void navigator.clipboard.writeText(token).catch(notifyError)}>
        Copy
      </Button>
    </Flash>
  );
}
