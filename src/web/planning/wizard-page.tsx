import { Button, Flash, Heading, Link as PlainLink } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'react-router';
import * as api from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { Shown } from '../display/query-result.tsx';
import { AskText } from '../forms/text-dialog.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';
import { PlannedTasks } from './planned-tasks.tsx';
import { Question } from './question.tsx';

type Part = 'prd' | 'plan' | 'tasks';

const generators = {
  prd: api.postProjectsByProjectIdWizardGeneratePrd,
  plan: api.postProjectsByProjectIdWizardGeneratePlan,
  tasks: api.postProjectsByProjectIdWizardGenerateTasks,
};
const names: Record<Part, string> = { prd: 'requirements', plan: 'plan', tasks: 'tasks' };

/** The whole way from the questions to the sprint, every step of which can be gone back to. */
export function WizardPage() {
  useTitle('Plan');
  const { projectId = '', sessionId = '' } = useParams();
  const asked = useQuery(q.wizard(projectId, sessionId));
  return (
    <div className="narrow stack">
      <Shown of={asked} isPage>
        {(session) => <Session projectId={projectId} session={session} />}
      </Shown>
    </div>
  );
}

function Session({ projectId, session }: { projectId: string; session: api.WizardSession }) {
  const client = useQueryClient();
  const put = (next: api.WizardSession) => client.setQueryData(q.wizard(projectId, session.sessionId).queryKey, next);
  // Somebody else, or this page before a reload, may have brought it further.
  const again = () => client.invalidateQueries({ queryKey: ['wizard', session.sessionId] });
  const answer = useMutation({
    mutationFn: (given: { stepId: string; selectedOptionIds: string[]; customText: string }) =>
      api.postProjectsByProjectIdWizardBySessionIdAnswer(projectId, session.sessionId, { answer: given }),
    onSuccess: put,
    onError: again,
  });
  const generate = useMutation({
    mutationFn: ({ part, feedback }: { part: Part; feedback: string }) =>
      generators[part](projectId, { sessionId: session.sessionId, ...(feedback === '' ? {} : { feedback }) }),
    onSuccess: put,
    onError: again,
  });
  const [edited, setEdited] = useState<string>();
  const isFinal = session.status === 'finalized';
  const isBusy = answer.isPending || generate.isPending;
  const problem = answer.error ?? generate.error;
  const writing = (part: Part) => ({
    isBusy,
    isWriting: generate.isPending && generate.variables.part === part,
    onWrite: (feedback: string) => generate.mutate({ part, feedback }),
    isFinal,
  });
  return (
    <>
      <Heading as="h1" variant="medium" className="wrap">
        {session.goal.slice(0, 200)}
      </Heading>
      <ol className="stack plain-list" aria-label="Questions">
        {session.answers.map((given) => (
          <li key={given.stepId} className="box">
            {edited === given.stepId ? (
              <Question
                step={{ ...given, id: given.stepId }}
                before={given}
                isBusy={isBusy}
                onAnswer={(next) => {
                  setEdited(undefined);
                  answer.mutate(next);
                }}
              />
            ) : (
              <>
                <p className="strong wrap">{given.question}</p>
                <p className="wrap">
                  {[
                    ...given.options.filter((o) => given.selectedOptionIds.includes(o.id)).map((o) => o.label),
                    given.customText,
                  ]
                    .filter((text) => text !== '')
                    .join('; ')}
                </p>
                {!isFinal && (
                  <Button size="small" disabled={isBusy} onClick={() => setEdited(given.stepId)}>
                    Answer again
                  </Button>
                )}
              </>
            )}
          </li>
        ))}
        {session.currentStep && edited === undefined && (
          <li className="box">
            <Question
              key={session.currentStep.id}
              step={session.currentStep}
              isBusy={isBusy}
              onAnswer={(next) => answer.mutate(next)}
            />
          </li>
        )}
      </ol>
      {problem && (
        <Flash variant="danger" role="alert">
          {explain(problem)}
        </Flash>
      )}
      {session.status !== 'collecting' && (
        <Written part="prd" is={session.prd !== null} {...writing('prd')}>
          {session.prd && <Markdown text={titled(session.prd)} />}
        </Written>
      )}
      {session.prd && (
        <Written part="plan" is={session.plan !== null} {...writing('plan')}>
          <ol>
            {session.plan?.phases.map((phase) => (
              <li key={phase.name}>
                <p className="strong wrap">{phase.name}</p>
                <p className="wrap">{phase.goal}</p>
                <p className="muted wrap">{phase.reason}</p>
              </li>
            ))}
          </ol>
        </Written>
      )}
      {session.plan && (
        <Written part="tasks" is={session.tasks !== null} {...writing('tasks')}>
          {session.tasks && (
            <PlannedTasks
              key={JSON.stringify(session.tasks)}
              projectId={projectId}
              session={session}
              onFinal={() => client.invalidateQueries({ queryKey: ['wizard', session.sessionId] })}
            />
          )}
        </Written>
      )}
      {isFinal && (
        <Flash variant="success">
          The sprint is made. <PlainLink href={`/projects/${projectId}/sprints`}>To the sprints</PlainLink>
        </Flash>
      )}
    </>
  );
}

/** The document under its title, which it may begin with itself. */
function titled({ title, markdown }: api.Prd): string {
  return /^#\s/.test(markdown.trimStart()) ? markdown : `# ${title}\n\n${markdown}`;
}

function Written(props: {
  part: Part;
  is: boolean;
  isBusy: boolean;
  isWriting: boolean;
  isFinal: boolean;
  onWrite(feedback: string): void;
  children: React.ReactNode;
}) {
  const { part, is, isBusy, isWriting, isFinal, onWrite, children } = props;
  const [isAsking, setAsking] = useState(false);
  const name = names[part];
  return (
    <section className="box" aria-label={name}>
      <div className="row">
        <Heading as="h2" variant="small">
          {name.charAt(0).toUpperCase() + name.slice(1)}
        </Heading>
        <span className="grow" />
        {is && !isFinal && (
          <Button size="small" disabled={isBusy} loading={isWriting} onClick={() => setAsking(true)}>
            Write again
          </Button>
        )}
      </div>
      {is ? (
        children
      ) : (
        <Button variant="primary" disabled={isBusy} loading={isWriting} onClick={() => onWrite('')}>
          Write the {name}
        </Button>
      )}
      {isWriting && (
        <p className="muted" role="status">
          The model writes; this takes up to a minute.
        </p>
      )}
      {isAsking && (
        <AskText
          title={`Write the ${name} again`}
          label="What should be different?"
          button="Write again"
          onText={onWrite}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
