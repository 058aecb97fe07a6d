import { Flash, Heading, Link as PrimerLink } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Plan, Prd, WizardSession } from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { QueryResult } from '../display/query-result.tsx';
import { usePageTitle } from '../frame/use-page-title.ts';
import { errorMessage } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { GeneratedSection } from './generated-section.tsx';
import { PlannedTasks } from './planned-tasks.tsx';
import { Questions } from './questions.tsx';
import { useWizard, type Wizard } from './use-wizard.ts';

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
        {(session) => <SessionView projectId={projectId} session={session} />}
      </QueryResult>
    </div>
  );
}

function SessionView({ projectId, session }: { projectId: string; session: WizardSession }) {
  const wizard = useWizard(projectId, session);
  return (
    <>
      <Heading as="h1" variant="medium" className="wrap">
        {session.goal.slice(0, 200)}
      </Heading>
      <Questions session={session} wizard={wizard} />
      {wizard.error && (
        <Flash variant="danger" role="alert">
          {errorMessage(wizard.error)}
        </Flash>
      )}
      {session.status !== 'collecting' && <GeneratedSections projectId={projectId} session={session} wizard={wizard} />}
      {wizard.isFinal && (
        <Flash variant="success">
          Sprint created.{' '}
          <PrimerLink as={Link} to={`/projects/${projectId}/sprints`} inline>
            View sprints
          </PrimerLink>
        </Flash>
      )}
    </>
  );
}

function GeneratedSections(props: { projectId: string; session: WizardSession; wizard: Wizard }) {
  const { projectId, session, wizard } = props;
  const { prd, plan, tasks } = session;
  return (
    <>
      <GeneratedSection part="prd" wizard={wizard}>
        {prd && <Markdown text={withTitle(prd)} />}
      </GeneratedSection>
      {prd && (
        <GeneratedSection part="plan" wizard={wizard}>
          {plan && <Phases plan={plan} />}
        </GeneratedSection>
      )}
      {plan && (
        <GeneratedSection part="tasks" wizard={wizard}>
          {tasks && (
            <PlannedTasks
              key={JSON.stringify(tasks)}
              projectId={projectId}
              session={session}
              onFinalized={wizard.refetch}
            />
          )}
        </GeneratedSection>
      )}
    </>
  );
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

/** Adds the title as a heading unless the document already starts with one. */
function withTitle({ title, markdown }: Prd): string {
  return /^#\s/.test(markdown.trimStart()) ? markdown : `# ${title}\n\n${markdown}`;
}
