import { Button, Flash, FormControl, Heading, Textarea } from '@primer/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import * as api from '../api.ts';
import { Chosen } from '../forms/select-field.tsx';
import { submitting } from '../forms/submit-once.ts';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

const key = (projectId: string) => `deckhand-plans-${projectId}`;

interface Begun {
  id: string;
  goal: string;
}

/** The plans that were begun in this browser, to go on with. */
function begunPlans(projectId: string): Begun[] {
  try {
    return JSON.parse(localStorage.getItem(key(projectId)) ?? '[]') as Begun[];
  } catch {
    return [];
  }
}

/** From a goal to a sprint: the first step. */
export function PlanPage() {
  useTitle('Plan');
  const { projectId = '' } = useParams();
  const repositories = useQuery(q.repositories(projectId));
  const go = useNavigate();
  const [goal, setGoal] = useState('');
  const [repositoryId, setRepository] = useState('');
  const begun = begunPlans(projectId);
  const begin = useMutation({
    mutationFn: () =>
      api.postProjectsByProjectIdWizardInitialize(projectId, {
        goal: goal.trim(),
        ...(repositoryId === '' ? {} : { repositoryId }),
      }),
    onSuccess: async ({ sessionId }) => {
      const plans = [{ id: sessionId, goal: goal.trim().slice(0, 120) }, ...begun].slice(0, 10);
      localStorage.setItem(key(projectId), JSON.stringify(plans));
      await go(`/projects/${projectId}/plan/${sessionId}`);
    },
  });
  const send = submitting(begin);
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Plan a goal
      </Heading>
      <p className="muted">
        A few questions, then requirements, a plan and tasks. You can go back and change everything; the sprint is made
        at the end.
      </p>
      {begin.error && <Flash variant="danger">{explain(begin.error)}</Flash>}
      <form className="stack" onSubmit={send}>
        <FormControl required>
          <FormControl.Label>What do you want to reach?</FormControl.Label>
          <Textarea block rows={4} maxLength={10_000} value={goal} onChange={(event) => setGoal(event.target.value)} />
        </FormControl>
        <Chosen
          label="In which repository"
          none="The primary one"
          options={repositories.data}
          onChosen={setRepository}
        />
        <div>
          <Button type="submit" variant="primary" loading={begin.isPending}>
            Begin
          </Button>
        </div>
      </form>
      {begun.length > 0 && (
        <section>
          <Heading as="h2" variant="small">
            Begun in this browser
          </Heading>
          <ul className="list">
            {begun.map((plan) => (
              <li key={plan.id} className="list-item">
                <Link to={`/projects/${projectId}/plan/${plan.id}`} className="wrap">
                  {plan.goal}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
