import type { Dialect } from './actions.ts';

/** A message of Chat Completions, as far as an oracle reads it. */
export interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A call that the oracle made before, and what came of it. */
export interface Attempt {
  name: string;
  arguments: string;
  result: string;
  failed: boolean;
}

/** What an oracle knows: everything comes from the messages, so any process can answer any request. */
export interface Conversation {
  /** The messages of model and user so far. Both count, because some loops drop an answer that they reject. */
  turns: number;
  attempts: Attempt[];
  /** Whether a call of the last turn failed, or the last turn was rejected. */
  lastFailed: boolean;
  /** Files that the last message says must not be there, such as compiled ones. */
  unwanted: string[];
}

export function readConversation(messages: ChatMessage[], dialect: Dialect): Conversation {
  const results = new Map(messages.filter((m) => m.role === 'tool').map((m) => [m.tool_call_id, textOf(m)]));
  const attempts: Attempt[] = [];
  let lastFailed = false;
  for (const message of messages.filter((m) => m.role === 'assistant')) {
    const made = (message.tool_calls ?? []).map(({ id, function: call }) => {
      const result = results.get(id) ?? 'Error: no result';
      return { ...call, result, failed: dialect.failed(result) };
    });
    attempts.push(...made);
    // A turn without a call achieved nothing.
    lastFailed = made.length === 0 || made.some((attempt) => attempt.failed);
  }
  const spoken = messages.filter((m) => m.role === 'assistant' || m.role === 'user');
  const isRejected = messages.at(-1)?.role === 'user' && spoken.length > 1 && attempts.at(-1)?.name !== 'finish';
  const unwanted = [...textOf(messages.at(-1) ?? { role: '' }).matchAll(/^- (\S+) is a new (?:binary )?file/gm)];
  return {
    turns: spoken.length,
    attempts,
    lastFailed: lastFailed || isRejected,
    unwanted: unwanted.map(([, path = '']) => path),
  };
}

/** Returns the text of a message; servers accept a string or a list of parts. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (part as { text?: unknown }).text ?? '').join('');
}
