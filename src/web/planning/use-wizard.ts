import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import * as queries from '../live/queries.ts';
import type { Parts } from './part-text.ts';
import { useEditing } from './use-editing.ts';
import { useGeneration } from './use-generation.ts';

/** The parts of a plan that the model generates, one after the other. */
export type GeneratedPart = keyof Parts;

export interface Answer {
  stepId: string;
  selectedOptionIds: string[];
  customText: string;
}

export type Wizard = ReturnType<typeof useWizard>;

/** Returns the requests of a planning session. Only one runs at a time. */
export function useWizard(projectId: string, session: api.WizardSession) {
  const { sessionId } = session;
  const client = useQueryClient();
  const { data: me } = useQuery(queries.me());
  const { queryKey } = queries.wizard(projectId, sessionId);
  const refetch = () => client.invalidateQueries({ queryKey });
  // After an error the session is fetched again: another person, or this page before a reload, may have changed it.
  const answer = useMutation({
    mutationFn: (given: Answer) => api.answerWizard(projectId, sessionId, { answer: given }),
    onSuccess: (next) => client.setQueryData(queryKey, next),
    onError: refetch,
  });
  const { generate, arriving } = useGeneration(projectId, sessionId);
  useEditing(projectId, sessionId, arriving?.part ?? 'prd', arriving !== undefined);
  return {
    sessionId,
    answer: (given: Answer) => answer.mutateAsync(given),
    isAnswering: answer.isPending,
    generate: (part: GeneratedPart, feedback: string) => generate.mutateAsync({ part, feedback }),
    isGenerated: (part: GeneratedPart) => session[part] !== null,
    /** The logins of the other members who work on a part now. */
    othersAt: (part: GeneratedPart) =>
      session.editors
        .filter((editor) => editor.part === part && editor.user.id !== me?.id)
        .map(({ user }) => user.login),
    /** What has arrived of a part; undefined unless the model is writing it. */
    arrivingOf: (part: GeneratedPart) => (arriving?.part === part ? arriving : undefined),
    isBusy: answer.isPending || generate.isPending,
    isFinal: session.status === 'finalized',
    error: answer.error ?? generate.error,
    refetch,
  };
}
