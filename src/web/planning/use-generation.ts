import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type * as api from '../api.ts';
import { postStream } from '../live/post-stream.ts';
import * as queries from '../live/queries.ts';
import type { Parts } from './part-text.ts';

/** What has arrived of a part that the model is writing. */
export interface Arriving {
  part: keyof Parts;
  /** JSON that may end anywhere. */
  json: string;
  /** What the model reads in the repositories. */
  reading: string;
}

/** Lets the model write parts of a plan and shows them while they arrive. */
export function useGeneration(projectId: string, sessionId: string) {
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
