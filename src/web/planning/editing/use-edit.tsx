import { Button, Flash } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef } from 'react';
import * as api from '../../api.ts';
import { errorMessage, statusOf } from '../../live/errors.ts';
import * as queries from '../../live/queries.ts';
import { type Parts, versionOf } from '../part-text.ts';

type Edited = Parameters<typeof api.editWizard>[2];

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Saves one part of a plan that a person edits by hand. Only a change to this part by somebody else is a conflict; the
 * person then chooses which version stays.
 */
export function useEdit(projectId: string, session: api.WizardSession, part: keyof Parts) {
  const client = useQueryClient();
  const { sessionId } = session;
  const current = versionOf(session, part);
  const { queryKey } = queries.wizard(projectId, sessionId);
  /** The version that the person began to edit. */
  const base = useRef(current);
  if (isSame(base.current.content, current.content)) base.current = current;
  const save = useMutation({
    mutationFn: ({ edited, updatedAt }: { edited: Edited; updatedAt: string }) =>
      api.editWizard(projectId, sessionId, { ...edited, updatedAt }),
    onSuccess: (next) => {
      base.current = versionOf(next, part);
      client.setQueryData(queryKey, next);
    },
    onError: () => client.invalidateQueries({ queryKey }),
  });
  return {
    save: (edited: Edited, onSaved?: () => void) =>
      save.mutate({ edited, updatedAt: base.current.updatedAt }, { onSuccess: onSaved }),
    saveAsync: (edited: Edited) => save.mutateAsync({ edited, updatedAt: base.current.updatedAt }),
    /** Replaces the version of somebody else. */
    overwrite: (edited: Edited, onSaved?: () => void) =>
      save.mutate({ edited, updatedAt: session.updatedAt }, { onSuccess: onSaved }),
    /** Continues from the current version. */
    rebase: () => {
      base.current = current;
      save.reset();
    },
    isSaving: save.isPending,
    isConflict: statusOf(save.error) === 409 && session.status !== 'finalized',
    error: save.error,
  };
}

type Edit = ReturnType<typeof useEdit>;

/** Shows why an edit was not saved. After a conflict, the person chooses which version stays. */
export function EditProblem(props: {
  edit: Edit;
  /** The labels of fields, by their names in the API. */
  labels?: Record<string, string>;
  onOverwrite(): void;
  onDiscard(): void;
}) {
  const { edit, labels = {}, onOverwrite, onDiscard } = props;
  if (edit.error === null) return null;
  if (!edit.isConflict)
    return (
      <Flash variant="danger" role="alert">
        {errorMessage(edit.error, labels)}
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

/** Focuses the first field that was refused. */
export function useFocusOnMistake(list: RefObject<HTMLElement | null>, error: Error | null): void {
  useEffect(() => {
    if (error) list.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [list, error]);
}
