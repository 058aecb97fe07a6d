import { useState } from 'react';
import { errorMessage } from '../live/errors.ts';
import { sendMessage } from './send-message.ts';

export interface ChatMessage {
  by: 'you' | 'agent';
  text: string;
}

const maxKept = 100;

/**
 * Returns the messages that this browser stored before a reload. The service remembers the conversation for the agent
 * but has no route to list it.
 */
function storedMessages(address: string): ChatMessage[] {
  try {
    return JSON.parse(sessionStorage.getItem(`chat ${address}`) ?? '[]') as ChatMessage[];
  } catch {
    return [];
  }
}

/**
 * Manages a conversation at an address of the API. `answer` is the part of an answer received so far, undefined between
 * answers.
 */
export function useConversation(address: string) {
  const [messages, setMessages] = useState(() => storedMessages(address));
  const [answer, setAnswer] = useState<string>();
  const [problem, setProblem] = useState('');
  /** Stores the message in the browser even if the person has left the page, so that it is there when they return. */
  const append = (message: ChatMessage) => {
    const all = [...storedMessages(address), message].slice(-maxKept);
    sessionStorage.setItem(`chat ${address}`, JSON.stringify(all));
    setMessages(all);
  };
  /** Sends a message; resolves to whether the agent answered. */
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
