import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import * as api from '../api.ts';
import { useMay } from '../forms/may.tsx';
import { subscribe } from '../live/event-stream.ts';
import { postStream } from '../live/post-stream.ts';
import * as queries from '../live/queries.ts';
import { useCostConfirm } from './model-cost.tsx';
import type { Parts } from './part-text.ts';

/** The parts of a plan that the model generates, one after the other. */
export type GeneratedPart = keyof Parts;

export const partNames: Record<GeneratedPart, string> = { prd: 'requirements', plan: 'plan', tasks: 'tasks' };

export interface Answer {
  stepId: string;
  selectedOptionIds: string[];
  customText: string;
}

export type Wizard = ReturnType<typeof useWizard>;

/** Returns the requests of a planning session. Only one runs at a time. */
export function useWizard(projectId: string, session: api.WizardSession) {
  const mayChange = useMay('member');
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
  const confirm = useCostConfirm(projectId, sessionId);
  const [edited, setEdited] = useState<GeneratedPart>();
  return {
    /** The part that the person is editing by hand. Until they save or cancel, other parts would be generated from its old text. */
    edited,
    setEdited,
    projectId,
    sessionId,
    /** Returns whether the answer was sent. The person may decide otherwise when they see what it costs. */
    answer: async (given: Answer) => {
      const isSure = await confirm('questions', 'Submit the answer?', 'Submit answer');
      if (isSure) await answer.mutateAsync(given);
      return isSure;
    },
    isAnswering: answer.isPending,
    /** Generates a part for the first time, once the person has seen what it costs. */
    generate: async (part: GeneratedPart) => {
      const button = `Generate ${partNames[part]}`;
      if (await confirm('part', `${button}?`, button)) await generate.mutateAsync({ part, feedback: '' });
    },
    regenerate: (part: GeneratedPart, feedback: string) => generate.mutateAsync({ part, feedback }),
    isGenerated: (part: GeneratedPart) => session[part] !== null,
    /** Whether a part follows from an earlier text of a part before it, which may still be changed. */
    isOutdated: (part: GeneratedPart) => session.status !== 'finalized' && session.outdated.includes(part),
    /** The logins of the other members who work on a part now. */
    othersAt: (part: GeneratedPart) =>
      session.editors
        .filter((editor) => editor.part === part && editor.user.id !== me?.id)
        .map(({ user }) => user.login),
    /** What has arrived of a part; undefined unless the model is writing it. */
    arrivingOf: (part: GeneratedPart) => (arriving?.part === part ? arriving : undefined),
    isBusy: answer.isPending || generate.isPending,
    isFinal: session.status === 'finalized',
    /** The sprint was created, or the person only views the project. */
    isReadOnly: session.status === 'finalized' || !mayChange,
    error: answer.error ?? generate.error,
    refetch,
  };
}

/** Shows other members that this person works on a part of a plan, as long as `isEditing` and the page is visible. */
export function useEditing(projectId: string, sessionId: string, part: keyof Parts, isEditing: boolean): void {
  useEffect(() => {
    if (!isEditing) return;
    const address = `/api/v1/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}/editing`;
    return subscribe(`${address}?part=${part}`, { events: {} });
  }, [projectId, sessionId, part, isEditing]);
}

/** What has arrived of a part that the model is writing. */
export interface Arriving {
  part: keyof Parts;
  /** JSON that may end anywhere. */
  json: string;
  /** What the model reads in the repositories. */
  reading: string;
}

/** Lets the model write parts of a plan and shows them while they arrive. */
function useGeneration(projectId: string, sessionId: string) {
  const client = useQueryClient();
  const { queryKey } = queries.wizard(projectId, sessionId);
  const [arriving, setArriving] = useState<Arriving>();
  const generate = useMutation({
    mutationFn: ({ part, feedback }: { part: keyof Parts; feedback: string }) => {
      setArriving({ part, json: '', reading: '' });
      const change = (next: (before: Arriving) => Partial<Arriving>) =>
        setArriving((before) => before && { ...before, ...next(before) });
      const body = { sessionId, ...(feedback === '' ? {} : { feedback }) };
      const address = `/projects/${projectId}/wizard/generate-${part}`;
      return postStream<api.WizardSession>(address, body, (name, { text = '' }) => {
        if (name === 'text') change(({ json }) => ({ json: json + text }));
        else if (name === 'restart') change(() => ({ json: '' }));
        else if (name === 'read') change(() => ({ reading: text }));
      });
    },
    onSuccess: (next) => client.setQueryData(queryKey, next),
    // After an error the session is fetched again: another person may have changed it.
    onError: () => client.invalidateQueries({ queryKey }),
    onSettled: () => setArriving(undefined),
  });
  return { generate, arriving };
}
