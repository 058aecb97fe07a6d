import { Button, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { useMay } from '../forms/may.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { RowActions, RowLine } from '../rows/row-actions.tsx';
import { AutomationForm } from './automation-form.tsx';
import { ownZone } from './templates.ts';
import { dueText, whenText } from './words.ts';

/** Lists the automations of a project. Admins can change them. */
export function AutomationsPage() {
  usePageTitle('Automations');
  const { projectId = '' } = useParams();
  const query = useQuery(queries.automations(projectId));
  const isAdmin = useMay('admin');
  // Null for a new one.
  const [edited, setEdited] = useState<api.Automation | null>();
  return (
    <div className="narrow">
      <PageHeader title="Automations">
        {isAdmin && (
          <Button variant="primary" onClick={() => setEdited(null)}>
            New automation
          </Button>
        )}
      </PageHeader>
      <QueryResult query={query}>
        {(automations) =>
          automations.length === 0 ? (
            <EmptyState title="No automations yet">
              <p>
                An automation creates tasks at times, or after events on GitHub: a nightly update of dependencies, or a
                triage of new issues. Admins of the project create them.
              </p>
            </EmptyState>
          ) : (
            <ul className="list" aria-label="Automations">
              {automations.map((automation) => (
                <Item
                  key={automation.id}
                  automation={automation}
                  isAdmin={isAdmin}
                  onEdit={() => setEdited(automation)}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {edited !== undefined && (
        <AutomationForm projectId={projectId} automation={edited ?? undefined} onClose={() => setEdited(undefined)} />
      )}
    </div>
  );
}

interface ItemProps {
  automation: api.Automation;
  isAdmin: boolean;
  onEdit(): void;
}

function Item({ automation, isAdmin, onEdit }: ItemProps) {
  const { name, on, enabled, paused, nextAt, last } = automation;
  return (
    <li className="list-item stack tight">
      <RowLine actions={isAdmin && <Actions automation={automation} onEdit={onEdit} />}>
        <span className="strong wrap">
          <bdi>{name}</bdi>
        </span>
        <Label variant={paused ? 'danger' : enabled ? 'success' : 'secondary'}>
          {paused ? 'Switched off' : enabled ? 'On' : 'Off'}
        </Label>
      </RowLine>
      <span className="muted wrap">
        <bdi>{whenText(on)}</bdi>
      </span>
      {nextAt !== null && <span className="wrap">Next: {dueText(nextAt, ownZone(), on.timezone)}</span>}
      {paused && (
        <span className="wrap" role="note">
          <bdi>{paused.reason}</bdi>
        </span>
      )}
      {last && <Last last={last} isShown={paused === null} />}
    </li>
  );
}

/** Says what it did last. Why it was switched off is said elsewhere. */
function Last({ last, isShown }: { last: NonNullable<api.Automation['last']>; isShown: boolean }) {
  return (
    <span className="muted wrap">
      Last <TimeAgo at={last.at} />
      {last.taskId !== null && (
        <>
          : <Link to={`/tasks/${last.taskId}`}>its task</Link>
        </>
      )}
      {last.problem !== null && isShown && (
        <>
          . <bdi>{last.problem}</bdi>
        </>
      )}
    </span>
  );
}

function Actions({ automation, onEdit }: Omit<ItemProps, 'isAdmin'>) {
  const { id, projectId, name, enabled } = automation;
  const client = useQueryClient();
  const confirm = useConfirm();
  const act = useMutation({
    mutationFn: (send: () => Promise<unknown>) => send(),
    onSuccess: () => client.invalidateQueries({ queryKey: queries.automations(projectId).queryKey }),
    onError: notifyError,
  });
  const run = async () => {
    const { last } = await api.runAutomation(projectId, id);
    notify(last?.problem ?? `“${name}” has made a task`, last?.problem ? 'danger' : 'success');
  };
  const remove = async () => {
    const isConfirmed = await confirm({
      title: `Delete ${name}?`,
      content: 'Its tasks stay.',
      confirmButtonContent: 'Delete automation',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) act.mutate(() => api.deleteAutomation(projectId, id));
  };
  const state = enabled ? 'off' : 'on';
  return (
    <RowActions
      of={name}
      actions={[
        {
          name: `Switch ${state}`,
          label: `Switch ${state} ${name}`,
          isBusy: act.isPending,
          onSelect: () => act.mutate(() => api.updateAutomation(projectId, id, { enabled: !enabled })),
        },
        {
          name: 'Run now',
          label: `Run now: ${name}`,
          isDisabled: act.isPending,
          onSelect: () => act.mutate(run),
        },
        { name: 'Edit', label: `Edit ${name}`, onSelect: onEdit },
        { name: 'Delete', label: `Delete ${name}`, isDanger: true, onSelect: () => void remove() },
      ]}
    />
  );
}
