import { Button, Checkbox, CheckboxGroup, Flash, FormControl, Label, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type WebhookEvent, type WebhookFormat, webhookEvents } from '../../domain/notices/webhooks.ts';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { submitOnce } from '../forms/submit.ts';
import { copy, notify, notifyError, notifyFormError } from '../frame/notices.tsx';
import { fieldError, isAboutFields } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { RowActions, RowLine } from '../rows/row-actions.tsx';

/** Lists the webhooks of a project with what was delivered to them. The secret of a new one is shown once. */
export function Webhooks({ projectId }: { projectId: string }) {
  const query = useQuery(queries.webhooks(projectId));
  const [created, setCreated] = useState<api.CreatedWebhook>();
  return (
    <Section title="Webhooks">
      <div className="stack">
        <p className="muted">
          Other tools are told what happens in this project. Deliveries are signed as{' '}
          <a href="https://www.standardwebhooks.com/" rel="noopener" target="_blank">
            Standard Webhooks
          </a>{' '}
          are. Receivers see titles, questions and plans of tasks.
        </p>
        {created && <CreatedSecret webhook={created} />}
        <QueryResult query={query} rows={1}>
          {(webhooks) => (
            <ul className="list">
              {webhooks.map((webhook) => (
                <WebhookItem key={webhook.id} webhook={webhook} />
              ))}
            </ul>
          )}
        </QueryResult>
        <WebhookForm projectId={projectId} onCreated={setCreated} />
      </div>
    </Section>
  );
}

function CreatedSecret({ webhook: { url, secret } }: { webhook: api.CreatedWebhook }) {
  return (
    <Flash variant="success">
      <p className="wrap">Webhook to {url} created. Copy its secret now. You will not be able to see it again.</p>
      <code className="wrap">{secret}</code>{' '}
      <Button size="small" onClick={() => copy(secret, 'Secret')}>
        Copy
      </Button>
    </Flash>
  );
}

function WebhookItem({ webhook }: { webhook: api.Webhook }) {
  const { id, projectId, url, events, format, enabled, problem } = webhook;
  const client = useQueryClient();
  const confirm = useConfirm();
  const [isOpen, setOpen] = useState(false);
  const refetch = () => client.invalidateQueries({ queryKey: queries.webhooks(projectId).queryKey });
  const { mutate: act, isPending } = useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onSuccess: refetch,
    onError: notifyError,
  });
  const sendTest = () =>
    act(async () => {
      await api.testWebhook(projectId, id, {});
      notify('Test queued', 'success');
      setOpen(true);
    });
  const remove = async () => {
    const isConfirmed = await confirm({
      title: 'Delete webhook?',
      content: `${url} gets nothing more. Its deliveries are deleted.`,
      confirmButtonContent: 'Delete webhook',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) act(() => api.deleteWebhook(projectId, id));
  };
  return (
    <li className="list-item">
      <RowLine
        actions={
          <RowActions
            of={url}
            actions={[
              { name: 'Send a test', isDisabled: isPending || !enabled, onSelect: sendTest },
              { name: 'Deliveries', isExpanded: isOpen, onSelect: () => setOpen(!isOpen) },
              {
                name: enabled ? 'Switch off' : 'Switch on',
                isDisabled: isPending,
                onSelect: () => act(() => api.updateWebhook(projectId, id, { enabled: !enabled })),
              },
              { name: 'Delete', label: `Delete webhook to ${url}`, isDanger: true, onSelect: () => void remove() },
            ]}
          />
        }
      >
        <span className="strong wrap">{url}</span>
        <Label variant={enabled ? 'success' : 'danger'}>{enabled ? 'On' : 'Off'}</Label>
        <span className="muted">
          {format === 'slack' && 'Slack · '}
          {events.join(', ')}
        </span>
        {problem !== null && <span className="wrap">{problem}</span>}
      </RowLine>
      {isOpen && <Deliveries webhook={webhook} />}
    </li>
  );
}

/** How often shown deliveries are fetched. They have no events. */
const pollMs = 3000;

function Deliveries({ webhook }: { webhook: api.Webhook }) {
  const query = useQuery({ ...queries.webhookDeliveries(webhook.projectId, webhook.id), refetchInterval: pollMs });
  return (
    <div className="stack tight">
      <QueryResult query={query} rows={1}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className="muted">Nothing was delivered yet. Deliveries of the last 30 days appear here.</p>
          ) : (
            <ul className="list" aria-label={`Deliveries to ${webhook.url}`}>
              {deliveries.map((delivery) => (
                <DeliveryItem key={delivery.id} webhook={webhook} delivery={delivery} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </div>
  );
}

const variants = { waiting: 'attention', delivered: 'success', failed: 'danger' } as const;
const names = { waiting: 'Waiting', delivered: 'Delivered', failed: 'Failed' } as const;

function DeliveryItem({ webhook, delivery }: { webhook: api.Webhook; delivery: api.WebhookDelivery }) {
  const { id, event, status, createdAt, attempts, nextAttemptAt, responseStatus, problem, response } = delivery;
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () => api.redeliverWebhook(webhook.projectId, webhook.id, id, {}),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: queries.webhookDeliveries(webhook.projectId, webhook.id).queryKey }),
    onError: notifyError,
  });
  return (
    <li className="list-item">
      <RowLine
        actions={
          <RowActions
            of={event}
            actions={[
              {
                name: 'Send again',
                isBusy: again.isPending,
                isDisabled: !webhook.enabled,
                onSelect: () => again.mutate(),
              },
            ]}
          />
        }
      >
        <Label variant={variants[status]}>{names[status]}</Label>
        <span>{event}</span>
        <span className="muted">
          <TimeAgo at={createdAt} /> · {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
          {responseStatus !== null && ` · HTTP ${responseStatus}`}
          {nextAttemptAt !== null && attempts > 0 && (
            <>
              {' · next '}
              <TimeAgo at={nextAttemptAt} />
            </>
          )}
        </span>
        {problem !== null && <span className="wrap">{problem}</span>}
        {problem !== null && response !== null && <code className="wrap">{response}</code>}
      </RowLine>
    </li>
  );
}

const formats = [
  { id: 'standard', name: 'Standard Webhooks' },
  { id: 'slack', name: 'Slack' },
];
const usualEvents: readonly WebhookEvent[] = ['task.attention'];

function WebhookForm({ projectId, onCreated }: { projectId: string; onCreated(webhook: api.CreatedWebhook): void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<WebhookFormat>('standard');
  const [events, setEvents] = useState(usualEvents);
  const create = useMutation({
    mutationFn: () => api.createWebhook(projectId, { url: url.trim(), format, events: [...events] }),
    onSuccess: (webhook) => {
      onCreated(webhook);
      setUrl('');
      void client.invalidateQueries({ queryKey: queries.webhooks(projectId).queryKey });
    },
    onError: (error) => {
      if (!isAboutFields(error, ['url'])) notifyFormError(error, { url: 'Address', events: 'Events' });
    },
  });
  const problem = fieldError(create.error, 'url', 'Address');
  const toggle = (event: WebhookEvent) =>
    setEvents(events.includes(event) ? events.filter((each) => each !== event) : [...events, event]);
  return (
    <form className="stack tight" onSubmit={submitOnce(create)}>
      <div className="fields">
        <FormControl required>
          <FormControl.Label>Address</FormControl.Label>
          <TextInput
            block
            autoComplete="off"
            placeholder="https://example.com/hooks"
            value={url}
            onChange={(event) => {
              setUrl(event.target.value);
              create.reset();
            }}
          />
          {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
        </FormControl>
        <SelectField
          label="Format"
          emptyOption={undefined}
          value={format}
          options={formats}
          onSelect={(id) => setFormat(id === 'slack' ? 'slack' : 'standard')}
        />
      </div>
      <CheckboxGroup>
        <CheckboxGroup.Label>Events</CheckboxGroup.Label>
        {webhookEvents.map((event) => (
          <FormControl key={event}>
            <Checkbox checked={events.includes(event)} onChange={() => toggle(event)} />
            <FormControl.Label>{event}</FormControl.Label>
          </FormControl>
        ))}
      </CheckboxGroup>
      <div>
        <Button type="submit" loading={create.isPending}>
          Add webhook
        </Button>
      </div>
    </form>
  );
}
