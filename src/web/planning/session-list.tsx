import { TrashIcon } from '@primer/octicons-react';
import { Heading, IconButton, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import { LastChange } from './last-change.tsx';

const statuses: Record<api.WizardEntry['status'], string> = {
  collecting: 'Open question',
  answered: 'Questions answered',
  prd_ready: 'Requirements written',
  plan_ready: 'Plan written',
  tasks_ready: 'Tasks written',
  finalized: 'Sprint created',
};

/** Lists the plans of a project. Every member can continue or delete them. */
export function SessionList({ projectId }: { projectId: string }) {
  const query = useQuery(queries.wizards(projectId));
  return (
    <section aria-label="Plans">
      <Heading as="h2" variant="small">
        Plans
      </Heading>
      <QueryResult query={query}>
        {(sessions) =>
          sessions.length === 0 ? (
            <p className="muted">Plans that you or other members start appear here.</p>
          ) : (
            <ul className="list">
              {sessions.map((session) => (
                <SessionItem key={session.sessionId} projectId={projectId} session={session} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </section>
  );
}

function SessionItem({ projectId, session }: { projectId: string; session: api.WizardEntry }) {
  const { sessionId, status, createdBy, updatedBy, updatedAt } = session;
  const title = (session.title ?? session.goal).slice(0, 200);
  return (
    <li className="list-item">
      <Link to={`/projects/${projectId}/plan/${sessionId}`} className="strong wrap">
        <bdi>{title}</bdi>
      </Link>
      <Label variant={status === 'finalized' ? 'success' : 'secondary'}>{statuses[status]}</Label>
      <span className="grow" />
      <span className="muted small">
        {createdBy !== null && <>started by {createdBy.login} · </>}
        <LastChange updatedBy={updatedBy} updatedAt={updatedAt} />
      </span>
      <DeleteSession projectId={projectId} session={session} title={title} />
    </li>
  );
}

function DeleteSession(props: { projectId: string; session: api.WizardEntry; title: string }) {
  const { projectId, session, title } = props;
  const client = useQueryClient();
  const confirm = useConfirm();
  const remove = useMutation({
    mutationFn: () => api.deleteWizard(projectId, session.sessionId),
    onSuccess: () => client.invalidateQueries({ queryKey: queries.wizards(projectId).queryKey }),
    onError: notifyError,
  });
  const onClick = async () => {
    const isSure = await confirm({
      title: 'Delete this plan?',
      content:
        session.status === 'finalized'
          ? 'Its answers and documents are deleted. The sprint and its tasks stay.'
          : 'Its answers and everything written so far are deleted for all members.',
      confirmButtonContent: 'Delete plan',
      confirmButtonType: 'danger',
    });
    if (isSure) remove.mutate();
  };
  return (
    <IconButton
      icon={TrashIcon}
      size="small"
      variant="invisible"
      aria-label={`Delete plan ${title.slice(0, 60)}`}
      disabled={remove.isPending}
      onClick={() => void onClick()}
    />
  );
}
