import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChatMessage } from '../api.ts';
import { errorMessage } from '../live/errors.ts';
import { postStream } from '../live/post-stream.ts';
import * as queries from '../live/queries.ts';

/** A message that was sent, and the part of its answer received so far. */
interface Pending {
  text: string;
  answer: string;
  /** How the history ended when the message was sent: the id of its last message. Undefined if it was not loaded. */
  after: string | undefined;
}

const lastId = (history: ChatMessage[]) => history.at(-1)?.id ?? 'none';

/** Returns whether the history holds a message of this person that came after `after`. Its answer is stored with it. */
export function isStored(history: ChatMessage[], { after }: Pick<Pending, 'after'>, myId: string | undefined): boolean {
  if (after === undefined || myId === undefined) return false;
  return history.slice(history.findIndex(({ id }) => id === after) + 1).some(({ author }) => author?.id === myId);
}

/**
 * Manages the conversation about a task or a sprint, which all members of the project share. `isBusy` means that the
 * agent is answering this person. `pending` is what the history does not show yet: a live update may bring the stored
 * answer before the stream of the answer ends.
 */
export function useConversation(subject: queries.ChatSubject) {
  const client = useQueryClient();
  const history = useInfiniteQuery(queries.chat(subject));
  const me = useQuery(queries.me());
  const [pending, setPending] = useState<Pending>();
  const [problem, setProblem] = useState('');
  const address = subject.kind === 'task' ? `/tasks/${subject.id}/chat` : `/sprints/${subject.id}/chat-with-dev-lead`;
  /** Sends a message; resolves to whether the agent answered. */
  const send = async (text: string): Promise<boolean> => {
    setProblem('');
    const after = history.data && lastId(history.data);
    setPending({ text, answer: '', after });
    try {
      await sendMessage(address, text, (piece) =>
        setPending((before) => ({ text, answer: (before?.answer ?? '') + piece, after })),
      );
      // The history has both messages now.
      await client.invalidateQueries({ queryKey: queries.chat(subject).queryKey });
      return true;
    } catch (error) {
      setProblem(errorMessage(error));
      return false;
    } finally {
      setPending(undefined);
    }
  };
  const isShown = pending !== undefined && isStored(history.data ?? [], pending, me.data?.id);
  return {
    history,
    myId: me.data?.id,
    pending: isShown ? undefined : pending,
    isBusy: pending !== undefined,
    problem,
    send,
  };
}

/** Sends a message to a chat and returns the whole answer. `onText` receives the answer piece by piece. */
async function sendMessage(address: string, message: string, onText: (piece: string) => void): Promise<string> {
  const onEvent = (name: string | undefined, { text }: { text?: string }) => {
    if (name === 'text') onText(text ?? '');
  };
  const { response } = await postStream<{ response?: string }>(address, { message }, onEvent);
  return response ?? '';
}
