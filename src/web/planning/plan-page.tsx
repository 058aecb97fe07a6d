import { Button, Checkbox, CheckboxGroup, Flash, FormControl, Heading, Textarea } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import * as api from '../api.ts';
import { submitOnCtrlEnter } from '../forms/form-dialog.tsx';
import { submitOnce } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import { usePageTitle } from '../frame/page-header.tsx';
import { errorMessage } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { SessionList } from './session-list.tsx';

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
      <GoalForm projectId={projectId} />
      <SessionList projectId={projectId} />
    </div>
  );
}

function GoalForm({ projectId }: { projectId: string }) {
  const repositories = useQuery(queries.repositories(projectId));
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
      await navigate(`/projects/${projectId}/plan/${sessionId}`);
    },
  });
  return (
    <>
      {start.error && <Flash variant="danger">{errorMessage(start.error)}</Flash>}
      <form className="stack" onSubmit={submitOnce(start)}>
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
