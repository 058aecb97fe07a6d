import { Button, Flash, FormControl, Heading, Textarea } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import * as api from '../api.ts';
import { SelectField } from '../forms/select-field.tsx';
import { submitOnce } from '../forms/submit-once.ts';
import { usePageTitle } from '../frame/use-page-title.ts';
import { errorMessage } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { addRecentPlan, recentPlans } from './recent-plans.ts';

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
      <RecentPlans projectId={projectId} />
    </div>
  );
}

function GoalForm({ projectId }: { projectId: string }) {
  const repositories = useQuery(queries.repositories(projectId));
  const navigate = useNavigate();
  const [goal, setGoal] = useState('');
  const [repositoryId, setRepositoryId] = useState('');
  const start = useMutation({
    mutationFn: () =>
      api.startWizard(projectId, {
        goal: goal.trim(),
        ...(repositoryId === '' ? {} : { repositoryId }),
      }),
    onSuccess: async ({ sessionId }) => {
      addRecentPlan(projectId, { id: sessionId, goal: goal.trim() });
      await navigate(`/projects/${projectId}/plan/${sessionId}`);
    },
  });
  return (
    <>
      {start.error && <Flash variant="danger">{errorMessage(start.error)}</Flash>}
      <form className="stack" onSubmit={submitOnce(start)}>
        <FormControl required>
          <FormControl.Label>What do you want to achieve?</FormControl.Label>
          <Textarea block rows={4} maxLength={10_000} value={goal} onChange={(event) => setGoal(event.target.value)} />
        </FormControl>
        <SelectField
          label="Repository"
          emptyOption="Primary repository"
          options={repositories.data}
          onSelect={setRepositoryId}
        />
        <div>
          <Button type="submit" variant="primary" loading={start.isPending}>
            Start planning
          </Button>
        </div>
      </form>
    </>
  );
}

function RecentPlans({ projectId }: { projectId: string }) {
  const plans = recentPlans(projectId);
  if (plans.length === 0) return null;
  return (
    <section>
      <Heading as="h2" variant="small">
        Recent plans in this browser
      </Heading>
      <ul className="list">
        {plans.map(({ id, goal }) => (
          <li key={id} className="list-item">
            <Link to={`/projects/${projectId}/plan/${id}`} className="wrap">
              {goal}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
