import { Button } from '@primer/react';
import { useState } from 'react';
import type { WizardSession } from '../api.ts';
import { QuestionForm } from './question-form.tsx';
import type { Answer, Wizard } from './use-wizard.ts';

type Answered = WizardSession['answers'][number];

/** Shows the answered questions, each of which can be edited, and the current question. */
export function Questions({ session, wizard }: { session: WizardSession; wizard: Wizard }) {
  const [editedId, setEditedId] = useState<string>();
  const update = (answer: Answer) => {
    setEditedId(undefined);
    return wizard.answer(answer);
  };
  return (
    <ol className="stack plain-list" aria-label="Questions">
      {session.answers.map((answered) => (
        <li key={answered.stepId} className="box">
          {editedId === answered.stepId ? (
            <QuestionForm
              sessionId={session.sessionId}
              step={{ ...answered, id: answered.stepId }}
              previous={answered}
              isBusy={wizard.isBusy}
              onAnswer={update}
            />
          ) : (
            <>
              <p className="strong wrap">{answered.question}</p>
              <p className="wrap">{answerText(answered)}</p>
              {!wizard.isFinal && (
                <Button size="small" disabled={wizard.isBusy} onClick={() => setEditedId(answered.stepId)}>
                  Edit answer
                </Button>
              )}
            </>
          )}
        </li>
      ))}
      {session.status === 'collecting' && session.currentStep === null && (
        <li className="box muted">
          The next question is being prepared in the issue of this plan. If none comes, edit the last answer.
        </li>
      )}
      {wizard.isAnswering && (
        <li className="muted" role="status">
          Reading the repositories for the next question. This can take a minute.
        </li>
      )}
      {session.currentStep && editedId === undefined && (
        <li className="box">
          <QuestionForm
            sessionId={session.sessionId}
            key={session.currentStep.id}
            step={session.currentStep}
            isBusy={wizard.isBusy}
            onAnswer={wizard.answer}
          />
        </li>
      )}
    </ol>
  );
}

function answerText({ options, selectedOptionIds, customText }: Answered): string {
  const selected = options.filter((o) => selectedOptionIds.includes(o.id)).map((o) => o.label);
  return [...selected, customText].filter((text) => text !== '').join('; ');
}
