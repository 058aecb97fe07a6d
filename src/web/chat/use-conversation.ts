import { useState } from 'react';
import { errorMessage } from '../live/errors.ts';
import { sendMessage } from './send-message.ts';

export interface ChatMessage {
  by: 'you' | 'agent';
  text: string;
}

const maxKept = 100;

/** The messages shown before a reload. The service remembers the conversation for the agent but does not list it. */
function storedMessages(address: string): ChatMessage[] {
  try {
    return JSON.parse(sessionStorage.getItem(`chat ${address}`) ?? '[]') as ChatMessage[];
  } catch {
    return [];
  }
}

/** A conversation at an address of the API. `answer` is the part of an answer received so far, undefined between answers. */
export function useConversation(address: string) {
  const [messages, setMessages] = useState(() => storedMessages(address));
  const [answer, setAnswer] = useState<string>();
  const [problem, setProblem] = useState('');
  /** Stores a message even if the page was left, so that a late answer is there when the person returns. */
  const append = (message: ChatMessage) => {
    const all = [...storedMessages(address), message].slice(-maxKept);
    sessionStorage.setItem(`chat ${address}`, JSON.stringify(all));
    setMessages(all);
  };
  /** Resolves to whether the agent answered. */
  const send = async (text: string): Promise<boolean> => {
    append({ by: 'you', text });
    setProblem('');
    setAnswer('');
    try {
      const response = await sendMessage(address, text, (piece) => setAnswer((before) => (before ?? '') + piece));
      append({ by: 'agent', text: response });
      return true;
    } catch (error) {
      setProblem(errorMessage(error));
      return false;
    } finally {
      setAnswer(undefined);
    }
  };
  return { messages, answer, problem, send };
}
