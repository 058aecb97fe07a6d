import { TrashIcon } from '@primer/octicons-react';
import {
  Button,
  Checkbox,
  CheckboxGroup,
  Flash,
  FormControl,
  Heading,
  IconButton,
  Label,
  Textarea,
  useConfirm,
} from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { oneLine } from '../../domain/text/sanitize.ts';
import { planName } from '../../domain/wizard.ts';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { May } from '../forms/may.tsx';
import { mutateOnce, refuseField, submitOnCtrlEnter } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import { notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { errorMessage } from '../live/errors.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { RowLine } from '../rows/row-actions.tsx';
import { LastChange } from './last-change.tsx';
import { acceptQuestions, useCostConfirm } from './model-cost.tsx';

/** Starts a planning session, which leads from a goal to a sprint. */
export function PlanPage() {
  usePageTitle('Plan');
  const { projectId = '' } = useParams();
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Plan a goal
      </Heading>
      <p className="muted">
        Answer a few questions, then review the requirements, the plan and the tasks. You can go back and change
        anything. The sprint is created at the end.
      </p>
      <May otherwise="Members of the project can plan a goal.">
        <GoalForm projectId={projectId} />
      </May>
      <SessionList projectId={projectId} />
    </div>
  );
}

function GoalForm({ projectId }: { projectId: string }) {
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  const navigate = useNavigate();
  const goal = useDraft(`goal ${projectId}`, '');
  const [repositoryIds, setRepositoryIds] = useState<string[]>([]);
  const start = useMutation({
    mutationFn: () =>
      api.startWizard(projectId, {
        goal: goal.value.trim(),
        ...(repositoryIds.length === 0 ? {} : { repositoryIds }),
      }),
    onSuccess: async ({ sessionId }) => {
      goal.clear();
      acceptQuestions(sessionId);
      await navigate(`/projects/${projectId}/plan/${sessionId}`);
    },
  });
  const confirm = useCostConfirm(projectId);
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (refuseField(event.currentTarget)) return;
    if (await confirm('questions', 'Start planning?', 'Start planning')) mutateOnce(start);
  };
  return (
    <>
      {start.error && <Flash variant="danger">{errorMessage(start.error)}</Flash>}
      <form className="stack" onSubmit={onSubmit}>
        <FormControl required>
          <FormControl.Label>What do you want to achieve?</FormControl.Label>
          <Textarea
            block
            rows={4}
            maxLength={10_000}
            value={goal.value}
            onChange={(event) => goal.set(event.target.value)}
            onKeyDown={submitOnCtrlEnter}
          />
        </FormControl>
        {(repositories.data?.length ?? 0) > 1 && (
          <CheckboxGroup>
            <CheckboxGroup.Label>Repositories</CheckboxGroup.Label>
            <CheckboxGroup.Caption>Without a choice, the plan is for the primary repository.</CheckboxGroup.Caption>
            {repositories.data?.map(({ id, name }) => (
              <FormControl key={id}>
                <Checkbox
                  value={id}
                  checked={repositoryIds.includes(id)}
                  onChange={({ target }) =>
                    setRepositoryIds((ids) => (target.checked ? [...ids, id] : ids.filter((each) => each !== id)))
                  }
                />
                <FormControl.Label>{name}</FormControl.Label>
              </FormControl>
            ))}
          </CheckboxGroup>
        )}
        <div>
          <Button type="submit" variant="primary" loading={start.isPending}>
            Start planning
          </Button>
        </div>
        {start.isPending && (
          <p className="muted" role="status">
            Reading the repositories for the first question. This can take a minute.
          </p>
        )}
      </form>
    </>
  );
}

const statuses: Record<api.WizardEntry['status'], string> = {
  collecting: 'Open question',
  answered: 'Questions answered',
  prd_ready: 'Requirements written',
  plan_ready: 'Plan written',
  tasks_ready: 'Tasks written',
  finalized: 'Sprint created',
};

/** Lists the plans of a project. Every member can continue or delete them. */
function SessionList({ projectId }: { projectId: string }) {
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
  const title = session.issueUrl === null ? oneLine(session.title ?? session.goal, 200) : planName(session);
  return (
    <li className="list-item">
      <RowLine
        actions={
          <May>
            <DeleteSession projectId={projectId} session={session} title={title} />
          </May>
        }
      >
        <Link to={`/projects/${projectId}/plan/${sessionId}`} className="strong wrap">
          <bdi>{title}</bdi>
        </Link>
        <Label variant={status === 'finalized' ? 'success' : 'secondary'}>{statuses[status]}</Label>
        <span className="grow" />
        <span className="muted small">
          {createdBy !== null && <>started by {createdBy.login} · </>}
          <LastChange updatedBy={updatedBy} updatedAt={updatedAt} />
        </span>
      </RowLine>
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
