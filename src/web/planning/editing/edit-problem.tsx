import { Button, Flash } from '@primer/react';
import { errorMessage } from '../../live/errors.ts';
import type { Edit } from './use-edit.ts';

/** Shows why an edit was not saved. After a conflict, the person chooses which version stays. */
export function EditProblem(props: { edit: Edit; onOverwrite(): void; onDiscard(): void }) {
  const { edit, onOverwrite, onDiscard } = props;
  if (edit.error === null) return null;
  if (!edit.isConflict)
    return (
      <Flash variant="danger" role="alert">
        {errorMessage(edit.error)}
      </Flash>
    );
  return (
    <Flash variant="warning" role="alert">
      <p>Somebody else changed this while you were editing. Your text is still here.</p>
      <div className="row wrap-row">
        <Button size="small" loading={edit.isSaving} onClick={onOverwrite}>
          Save my version
        </Button>
        <Button size="small" onClick={onDiscard}>
          Discard mine
        </Button>
      </div>
    </Flash>
  );
}
