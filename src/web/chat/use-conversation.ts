import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { errorMessage } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { sendMessage } from './send-message.ts';

/** A message that was sent, and the part of its answer received so far. */
interface Pending {
  text: string;
  answer: string;
}

/**
 * Manages the conversation about a task or a sprint, which all members of the project share. `pending` is undefined
 * unless the agent is answering this person.
 */
export function useConversation(subject: queries.ChatSubject) {
  const client = useQueryClient();
  const history = useInfiniteQuery(queries.chat(subject));
  const [pending, setPending] = useState<Pending>();
  const [problem, setProblem] = useState('');
  const address = subject.kind === 'task' ? `/tasks/${subject.id}/chat` : `/sprints/${subject.id}/chat-with-dev-lead`;
  /** Sends a message; resolves to whether the agent answered. */
  const send = async (text: string): Promise<boolean> => {
    setProblem('');
    setPending({ text, answer: '' });
    try {
      await sendMessage(address, text, (piece) =>
        setPending((before) => ({ text, answer: (before?.answer ?? '') + piece })),
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
  return { history, pending, problem, send };
}
