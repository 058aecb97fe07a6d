import { Button, Checkbox, CheckboxGroup, FormControl, Radio, RadioGroup, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import type { WizardSession, WizardStep } from '../api.ts';
import { plural } from '../display/formats.ts';
import { submitOnCtrlEnter } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import type { Answer, Wizard } from './use-wizard.ts';

type Answered = WizardSession['answers'][number];

/** Shows the answered questions, each of which can be edited, and the current question. */
export function Questions({ session, wizard }: { session: WizardSession; wizard: Wizard }) {
  const [editedId, setEditedId] = useState<string>();
  const update = async (answer: Answer) => {
    const isSent = wizard.answer(answer);
    if (await isSent) setEditedId(undefined);
    return isSent;
  };
  return (
    <ol className="stack plain-list" aria-label="Questions">
      {session.answers.map((answered, i) => (
        <li key={answered.stepId} className="box">
          {editedId === answered.stepId ? (
            <QuestionForm
              sessionId={session.sessionId}
              step={{ ...answered, id: answered.stepId }}
              previous={answered}
              follows={followingFrom(session, i)}
              isBusy={wizard.isBusy}
              onAnswer={update}
              onCancel={() => setEditedId(undefined)}
            />
          ) : (
            <div className="stack tight">
              <p className="strong wrap">{answered.question}</p>
              <p className="wrap">{answerText(answered)}</p>
              {!wizard.isReadOnly && (
                <div className="row">
                  <Button size="small" disabled={wizard.isBusy} onClick={() => setEditedId(answered.stepId)}>
                    Edit answer
                  </Button>
                </div>
              )}
            </div>
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
      {session.currentStep && wizard.isReadOnly && <li className="box wrap">{session.currentStep.question}</li>}
      {session.currentStep && editedId === undefined && !wizard.isReadOnly && (
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

/** Names what a new answer to a question removes, because it follows from the answer before. */
function followingFrom({ answers, prd, plan, tasks }: WizardSession, index: number): string[] {
  const later = answers.length - index - 1;
  return [
    ...(later > 0 ? [plural(later, 'later answer')] : []),
    ...(prd === null ? [] : ['the requirements']),
    ...(plan === null ? [] : ['the plan']),
    ...(tasks === null ? [] : ['the tasks']),
  ];
}

function answerText({ options, selectedOptionIds, customText }: Answered): string {
  const selected = options.filter((o) => selectedOptionIds.includes(o.id)).map((o) => o.label);
  return [...selected, customText].filter((text) => text !== '').join('; ');
}

/** Shows a question of the wizard, answered by selecting options, by writing, or both. */
function QuestionForm(props: {
  sessionId: string;
  step: WizardStep;
  previous?: Pick<Answer, 'selectedOptionIds' | 'customText'>;
  /** What another answer removes. */
  follows?: string[];
  isBusy: boolean;
  /** Returns whether the answer was sent. */
  onAnswer(answer: Answer): Promise<boolean>;
  onCancel?(): void;
}) {
  const { sessionId, step, previous, follows = [], isBusy, onAnswer, onCancel } = props;
  const draft = useDraft(`answer ${sessionId} ${step.id}`, {
    selected: previous?.selectedOptionIds ?? [],
    text: previous?.customText ?? '',
  });
  const { selected, text } = draft.value;
  // Options are alternatives, unless somebody wants several of them.
  const [isSeveral, setSeveral] = useState(selected.length > 1);
  const isEmpty = selected.length === 0 && text.trim() === '';
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (isEmpty) return;
    const answer = { stepId: step.id, selectedOptionIds: selected, customText: text.trim() };
    // The page shows why an answer was refused. It is still in the form then.
    onAnswer(answer).then(
      (isSent) => isSent && draft.clear(),
      () => {},
    );
  };
  return (
    <form className="stack" onSubmit={onSubmit}>
      <Options
        step={step}
        selected={selected}
        onSelect={(ids) => draft.set({ text, selected: ids })}
        isSeveral={isSeveral}
      />
      {!isSeveral && step.options.length > 1 && (
        <div>
          <Button size="small" onClick={() => setSeveral(true)}>
            Select several
          </Button>
        </div>
      )}
      <FormControl>
        <FormControl.Label>Your own answer</FormControl.Label>
        <Textarea
          block
          rows={2}
          maxLength={10_000}
          value={text}
          onChange={(event) => draft.set({ selected, text: event.target.value })}
          onKeyDown={submitOnCtrlEnter}
        />
      </FormControl>
      {follows.length > 0 && (
        <p className="muted">A new answer removes what follows from this one: {follows.join(', ')}.</p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" disabled={isEmpty} loading={isBusy}>
          Submit answer
        </Button>
        {onCancel && (
          <Button
            onClick={() => {
              draft.clear();
              onCancel();
            }}
          >
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

function Options(props: { step: WizardStep; selected: string[]; isSeveral: boolean; onSelect(ids: string[]): void }) {
  const { step, selected, isSeveral, onSelect } = props;
  const [Group, Field] = isSeveral ? [CheckboxGroup, Checkbox] : [RadioGroup, Radio];
  const change = (id: string, isChosen: boolean) => {
    if (!isSeveral) return onSelect([id]);
    onSelect(isChosen ? [...selected, id] : selected.filter((each) => each !== id));
  };
  return (
    <Group name={`options of ${step.id}`}>
      <Group.Label>
        <span className="wrap" data-next-focus>
          {step.question}
        </span>
      </Group.Label>
      {step.options.map(({ id, label }) => (
        <FormControl key={id}>
          <Field value={id} checked={selected.includes(id)} onChange={({ target }) => change(id, target.checked)} />
          <FormControl.Label>{label}</FormControl.Label>
        </FormControl>
      ))}
    </Group>
  );
}
