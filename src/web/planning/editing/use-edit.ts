import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import * as api from '../../api.ts';
import { statusOf } from '../../live/errors.ts';
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

export type Edit = ReturnType<typeof useEdit>;
