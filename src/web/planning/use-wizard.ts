import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import * as queries from '../live/queries.ts';

/** The parts of a plan that the model generates, one after the other. */
export type GeneratedPart = 'prd' | 'plan' | 'tasks';

export interface Answer {
  stepId: string;
  selectedOptionIds: string[];
  customText: string;
}

const generators = {
  prd: api.generatePrd,
  plan: api.generatePlan,
  tasks: api.generateTasks,
};

export type Wizard = ReturnType<typeof useWizard>;

/** Returns the requests of a planning session. Only one runs at a time. */
export function useWizard(projectId: string, session: api.WizardSession) {
  const { sessionId } = session;
  const client = useQueryClient();
  const { queryKey } = queries.wizard(projectId, sessionId);
  const refetch = () => client.invalidateQueries({ queryKey });
  const onSuccess = (next: api.WizardSession) => client.setQueryData(queryKey, next);
  // After an error the session is fetched again: another person, or this page before a reload, may have changed it.
  const answer = useMutation({
    mutationFn: (given: Answer) => api.answerWizard(projectId, sessionId, { answer: given }),
    onSuccess,
    onError: refetch,
  });
  const generate = useMutation({
    mutationFn: ({ part, feedback }: { part: GeneratedPart; feedback: string }) =>
      generators[part](projectId, { sessionId, ...(feedback === '' ? {} : { feedback }) }),
    onSuccess,
    onError: refetch,
  });
  const generated: Record<GeneratedPart, boolean> = {
    prd: session.prd !== null,
    plan: session.plan !== null,
    tasks: session.tasks !== null,
  };
  return {
    answer: (given: Answer) => answer.mutate(given),
    generate: (part: GeneratedPart, feedback: string) => generate.mutate({ part, feedback }),
    isGenerated: (part: GeneratedPart) => generated[part],
    isGenerating: (part: GeneratedPart) => generate.isPending && generate.variables.part === part,
    isBusy: answer.isPending || generate.isPending,
    isFinal: session.status === 'finalized',
    error: answer.error ?? generate.error,
    refetch,
  };
}
