import { Button, Flash, FormControl, Heading, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { submitOnce } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';

/** Lets people choose which mail they get about their inbox. */
export function MailPage() {
  usePageTitle('Mail');
  const query = useQuery(queries.myNotices());
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Mail
      </Heading>
      <p className="muted">
        Deckhand can also mail you what needs you. A mail contains the title of the task and what its agent asks, so
        choose an address at which you may read that.
      </p>
      <QueryResult query={query}>{(notices) => <MailChoice notices={notices} />}</QueryResult>
    </div>
  );
}

const modes = [
  { id: 'off', name: 'No mail' },
  { id: 'now', name: 'At once' },
  { id: 'daily', name: 'Once a day, at 7:00 UTC' },
];

function MailChoice({ notices }: { notices: api.Notices }) {
  const client = useQueryClient();
  const [mail, setMail] = useState(notices.mail);
  const [address, setAddress] = useState(notices.address ?? '');
  const saved = (now: api.Notices) => client.setQueryData(queries.myNotices().queryKey, now);
  const save = useMutation({
    mutationFn: () => api.setNotices({ mail, address: address.trim() === '' ? null : address.trim() }),
    onSuccess: (now) => {
      saved(now);
      notify('Mail saved', 'success');
    },
    onError: notifyError,
  });
  const again = useMutation({
    mutationFn: () => api.confirmNotices({}),
    onSuccess: (now) => {
      saved(now);
      notify('The link was sent again', 'success');
    },
    onError: notifyError,
  });
  if (!notices.available) return <p>This service sends no mail. Its operator can set SMTP_URL.</p>;
  return (
    <>
      {notices.address !== null && !notices.confirmed && (
        <Flash variant="warning">
          <p className="wrap">Open the link that was sent to {notices.address}. Until then it gets no other mail.</p>
          <Button size="small" loading={again.isPending} onClick={() => again.mutate()}>
            Send the link again
          </Button>
        </Flash>
      )}
      <form className="row wrap-row bottom-aligned" onSubmit={submitOnce(save)}>
        <FormControl>
          <FormControl.Label>Address</FormControl.Label>
          <TextInput
            type="email"
            maxLength={254}
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        </FormControl>
        <SelectField
          label="When"
          emptyOption={undefined}
          value={mail}
          options={modes}
          onSelect={(id) => setMail(id as api.Notices['mail'])}
        />
        <Button type="submit" variant="primary" loading={save.isPending}>
          Save mail
        </Button>
      </form>
    </>
  );
}
