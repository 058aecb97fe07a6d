import { PlusIcon, TrashIcon } from '@primer/octicons-react';
import { Button, FormControl, IconButton, Textarea } from '@primer/react';
import { useRef, useState } from 'react';
import { planName } from '../../../domain/wizard.ts';
import type { Plan, Prd, WizardSession } from '../../api.ts';
import { FormButtons, TitleField } from '../../forms/form-dialog.tsx';
import { fieldError } from '../../live/errors.ts';
import { useEditing } from '../use-wizard.ts';
import { EditProblem, useEdit, useFocusOnMistake } from './use-edit.tsx';

type Phase = Plan['phases'][number];

const emptyPhase: Phase = { name: '', goal: '', reason: '' };
const maxPhases = 20;
/** The longest title of the requirements, and the longest name of a phase, that the service accepts. */
const maxDocumentTitle = 500;

const nameOf = (at: number) => `Name of phase ${at + 1}`;

/** Edits the phases of a plan by hand. */
export function EditPlan(props: { projectId: string; session: WizardSession; onClose(): void }) {
  const { projectId, session, onClose } = props;
  const [phases, setPhases] = useState<Phase[]>(session.plan?.phases ?? [emptyPhase]);
  const edit = useEdit(projectId, session, 'plan');
  const form = useRef<HTMLFormElement>(null);
  useFocusOnMistake(form, edit.error);
  useEditing(projectId, session.sessionId, 'plan', true);
  const update = (at: number, change: Partial<Phase>) =>
    setPhases((before) => before.map((phase, i) => (i === at ? { ...phase, ...change } : phase)));
  const plan = { phases };
  return (
    <form
      ref={form}
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        edit.save({ plan }, onClose);
      }}
    >
      <ol className="stack plain-list" aria-label="Phases">
        {phases.map((phase, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: phases have no ids, and their fields are controlled
          <li key={i} className="planned">
            <div className="row bottom-aligned">
              <TitleField
                className="grow"
                label={nameOf(i)}
                hasFocus={i === 0}
                // A name that was corrected is no longer wrong.
                problem={
                  phase.name.trim() === '' ? fieldError(edit.error, `plan.phases.${i}.name`, nameOf(i)) : undefined
                }
                max={maxDocumentTitle}
                value={phase.name}
                onChange={(name) => update(i, { name })}
              />
              <IconButton
                icon={TrashIcon}
                aria-label={`Remove phase ${i + 1}`}
                disabled={phases.length === 1}
                onClick={() => setPhases(phases.filter((_, at) => at !== i))}
              />
            </div>
            {(['goal', 'reason'] as const).map((field) => (
              <FormControl key={field}>
                <FormControl.Label>{`${field === 'goal' ? 'Goal' : 'Reason'} of phase ${i + 1}`}</FormControl.Label>
                <Textarea
                  block
                  rows={2}
                  resize="vertical"
                  placeholder={field === 'goal' ? '' : 'Why this phase comes here'}
                  maxLength={5000}
                  value={phase[field]}
                  onChange={({ target }) => update(i, { [field]: target.value })}
                />
              </FormControl>
            ))}
          </li>
        ))}
      </ol>
      {phases.length < maxPhases && (
        <div>
          <Button size="small" leadingVisual={PlusIcon} onClick={() => setPhases([...phases, emptyPhase])}>
            Add phase
          </Button>
        </div>
      )}
      <EditProblem
        edit={edit}
        labels={Object.fromEntries(phases.map((_, i) => [`plan.phases.${i}.name`, nameOf(i)]))}
        onOverwrite={() => edit.overwrite({ plan }, onClose)}
        onDiscard={onClose}
      />
      <FormButtons submit="Save" isBusy={edit.isSaving} onCancel={onClose} />
    </form>
  );
}

interface EditorProps {
  projectId: string;
  session: WizardSession;
  onClose(): void;
}

/** Edits the requirements by hand, or writes them when no model does. */
export function EditPrd({ projectId, session, onClose }: EditorProps) {
  const [prd, setPrd] = useState<Prd>(session.prd ?? { title: planName(session, 10_000), markdown: '' });
  const edit = useEdit(projectId, session, 'prd');
  useEditing(projectId, session.sessionId, 'prd', true);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        edit.save({ prd }, onClose);
      }}
    >
      <TitleField hasFocus max={maxDocumentTitle} value={prd.title} onChange={(title) => setPrd({ ...prd, title })} />
      <FormControl required>
        <FormControl.Label>Requirements in Markdown</FormControl.Label>
        <Textarea
          block
          rows={16}
          resize="vertical"
          maxLength={50_000}
          value={prd.markdown}
          onChange={({ target }) => setPrd({ ...prd, markdown: target.value })}
        />
      </FormControl>
      <EditProblem edit={edit} onOverwrite={() => edit.overwrite({ prd }, onClose)} onDiscard={onClose} />
      <FormButtons submit="Save" isBusy={edit.isSaving} onCancel={onClose} />
    </form>
  );
}
