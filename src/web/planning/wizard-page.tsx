import { CheckIcon } from '@primer/octicons-react';
import { Flash, Heading, Link as PrimerLink } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { planName } from '../../domain/wizard.ts';
import type { Plan, WizardSession } from '../api.ts';
import { plural } from '../display/formats.ts';
import { Markdown } from '../display/markdown.tsx';
import { QueryResult } from '../display/query-result.tsx';
import { TextChanges } from '../forms/text-changes.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { errorMessage } from '../live/errors.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { EditPlan, EditPrd } from './editing/edit-texts.tsx';
import { PlannedTasks } from './editing/planned-tasks.tsx';
import { GeneratedSection } from './generated-section.tsx';
import './planning.css';
import { LastChange } from './last-change.tsx';
import { partText, withTitle } from './part-text.ts';
import { Questions } from './questions.tsx';
import { type GeneratedPart, useWizard, type Wizard } from './use-wizard.ts';

/**
 * Leads from questions to requirements, plan, tasks and a sprint. Every step can be changed until the sprint is
 * created.
 */
export function WizardPage() {
  usePageTitle('Plan');
  const { projectId = '', sessionId = '' } = useParams();
  const query = useQuery(queries.wizard(projectId, sessionId));
  return (
    <div className="narrow stack">
      <QueryResult query={query} isPage>
        {(session) => <SessionView key={session.sessionId} projectId={projectId} session={session} />}
      </QueryResult>
    </div>
  );
}

function SessionView({ projectId, session }: { projectId: string; session: WizardSession }) {
  const wizard = useWizard(projectId, session);
  return (
    <>
      <Heading as="h1" variant="medium" className="wrap">
        {planName(session)}
      </Heading>
      <p className="muted">
        {session.issueUrl !== null && (
          <>
            <a href={session.issueUrl} rel="noopener nofollow" target="_blank">
              Issue #{session.issueUrl.split('/').at(-1)}
            </a>
            {' · '}
          </>
        )}
        <LastChange {...session} />
        {session.status !== 'finalized' && ' · All members of the project can continue this plan.'}
      </p>
      <Steps session={session} />
      <AnsweredQuestions session={session} wizard={wizard} />
      {wizard.error && (
        <Flash variant="danger" role="alert">
          {errorMessage(wizard.error)}
        </Flash>
      )}
      {session.status !== 'collecting' && <GeneratedSections projectId={projectId} session={session} wizard={wizard} />}
      {wizard.isFinal && (
        <Flash variant="success">
          Sprint created.{' '}
          <PrimerLink
            as={Link}
            to={session.sprintId === null ? `/projects/${projectId}/sprints` : `/sprints/${session.sprintId}`}
            inline
          >
            {session.sprintId === null ? 'View sprints' : 'View the sprint'}
          </PrimerLink>
        </Flash>
      )}
    </>
  );
}

const stepNames = ['Questions', 'Requirements', 'Plan', 'Tasks', 'Sprint'];
const stepOf: Record<WizardSession['status'], number> = {
  collecting: 0,
  answered: 1,
  prd_ready: 2,
  plan_ready: 3,
  tasks_ready: 4,
  finalized: 5,
};

/** Shows how far a plan is. */
function Steps({ session: { status } }: { session: WizardSession }) {
  const current = stepOf[status];
  return (
    <ol className="wizard-steps" aria-label="Steps">
      {stepNames.map((name, i) => (
        <li key={name} className={i < current ? 'done' : ''} aria-current={i === current ? 'step' : undefined}>
          <span className="step-mark" aria-hidden="true">
            {i < current ? <CheckIcon size={12} /> : i + 1}
          </span>
          {name}
          {i < current && <span className="sr-only"> (done)</span>}
        </li>
      ))}
    </ol>
  );
}

/** Folds the questions when the requirements exist. */
function AnsweredQuestions({ session, wizard }: { session: WizardSession; wizard: Wizard }) {
  const questions = <Questions session={session} wizard={wizard} />;
  if (session.prd === null || session.answers.length === 0) return questions;
  return (
    <details className="box">
      <summary>{plural(session.answers.length, 'question')} answered</summary>
      {questions}
    </details>
  );
}

function GeneratedSections(props: { projectId: string; session: WizardSession; wizard: Wizard }) {
  const { projectId, session, wizard } = props;
  const { prd, plan, tasks } = session;
  const names = useNames(projectId);
  const changesOf = (part: GeneratedPart) =>
    session.previous[part] === null ? undefined : (
      <TextChanges
        before={partText(part, session.previous, names)}
        after={partText(part, session, names)}
        label="Last change"
      />
    );
  return (
    <>
      <GeneratedSection
        part="prd"
        wizard={wizard}
        isFinished={plan !== null}
        changes={changesOf('prd')}
        editor={(close) => <EditPrd projectId={projectId} session={session} onClose={close} />}
      >
        {prd && <Markdown text={withTitle(prd)} />}
      </GeneratedSection>
      {prd && (
        <GeneratedSection
          part="plan"
          wizard={wizard}
          isFinished={tasks !== null}
          changes={changesOf('plan')}
          editor={(close) => <EditPlan projectId={projectId} session={session} onClose={close} />}
        >
          {plan && <Phases plan={plan} />}
        </GeneratedSection>
      )}
      {plan && (
        <GeneratedSection part="tasks" wizard={wizard} changes={changesOf('tasks')}>
          {tasks && <PlannedTasks projectId={projectId} session={session} onFinalized={wizard.refetch} />}
        </GeneratedSection>
      )}
    </>
  );
}

/** Returns the names of the project's agents and repositories, by id. */
function useNames(projectId: string): Map<string, string> {
  const agents = useQuery(agentQueries.agentsOf(projectId));
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  return new Map([...(agents.data ?? []), ...(repositories.data ?? [])].map(({ id, name }) => [id, name]));
}

function Phases({ plan }: { plan: Plan }) {
  return (
    <ol>
      {plan.phases.map(({ name, goal, reason }) => (
        <li key={name}>
          <p className="strong wrap">{name}</p>
          <p className="wrap">{goal}</p>
          <p className="muted wrap">{reason}</p>
        </li>
      ))}
    </ol>
  );
}
