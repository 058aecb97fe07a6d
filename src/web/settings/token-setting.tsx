import { Button, FormControl, Heading, TextInput } from '@primer/react';
import { type QueryKey, type UseQueryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Shown } from '../display/query-result.tsx';
import { When } from '../display/times.tsx';
import { notify, notifyError } from '../frame/notices.tsx';

interface Configured {
  configured: boolean;
  updatedAt: string | null;
}

/** A secret of the project: set, replaced or removed, and never shown. */
export function TokenSetting<K extends QueryKey>(props: {
  title: string;
  about: string;
  of: UseQueryOptions<Configured, Error, Configured, K>;
  set(token: string): Promise<unknown>;
  remove(): Promise<unknown>;
}) {
  const { title, about, of, set, remove } = props;
  const client = useQueryClient();
  const asked = useQuery(of);
  const [token, setToken] = useState('');
  const change = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSuccess: () => {
      setToken('');
      notify('Saved.', 'success');
      return client.invalidateQueries({ queryKey: of.queryKey });
    },
    onError: notifyError,
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') change.mutate(() => set(token.trim()));
  };
  return (
    <section className="box stack" aria-label={title}>
      <Heading as="h2" variant="small">
        {title}
      </Heading>
      <p className="muted">{about}</p>
      <Shown of={asked} rows={1}>
        {({ configured, updatedAt }) => (
          <>
            <p>
              {configured ? 'It is set' : 'It is not set'}
              {configured && updatedAt && (
                <>
                  , <When at={updatedAt} />
                </>
              )}
              .
            </p>
            <form className="row wrap-row bottom-aligned" onSubmit={send}>
              <FormControl>
                <FormControl.Label>{configured ? 'Replace it by' : 'Set it'}</FormControl.Label>
                <TextInput
                  type="password"
                  autoComplete="off"
                  value={token}
                  onChange={(event) => setToken(event.target.value)}
                />
              </FormControl>
              <Button type="submit" loading={change.isPending}>
                Save
              </Button>
              {configured && (
                <Button variant="danger" onClick={() => change.mutate(remove)}>
                  Remove
                </Button>
              )}
            </form>
          </>
        )}
      </Shown>
    </section>
  );
}
