import { FormControl, Textarea, TextInput } from '@primer/react';
import { useState } from 'react';
import type { Prd, WizardSession } from '../../api.ts';
import { FormButtons } from '../../forms/form-dialog.tsx';
import { useEditing } from '../use-editing.ts';
import { EditProblem } from './edit-problem.tsx';
import { useEdit } from './use-edit.ts';

interface EditorProps {
  projectId: string;
  session: WizardSession;
  onClose(): void;
}

/** Edits the requirements by hand, or writes them when no model does. */
export function EditPrd({ projectId, session, onClose }: EditorProps) {
  const [prd, setPrd] = useState<Prd>(session.prd ?? { title: session.goal.slice(0, 200), markdown: '' });
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
      <FormControl required>
        <FormControl.Label>Title</FormControl.Label>
        <TextInput
          block
          data-next-focus
          maxLength={500}
          value={prd.title}
          onChange={({ target }) => setPrd({ ...prd, title: target.value })}
        />
      </FormControl>
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
