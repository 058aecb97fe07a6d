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
  /** Files that a message said must not be there, such as compiled ones, until they were removed. */
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
  return {
    turns: spoken.length,
    attempts,
    lastFailed: lastFailed || isRejected,
    unwanted: unwantedIn(messages, attempts),
  };
}

/** The command that removes unwanted files. */
export const removal = (paths: string[]) => `rm -rf -- ${paths.join(' ')}`;

function unwantedIn(messages: ChatMessage[], attempts: Attempt[]): string[] {
  const named = messages.findLastIndex((m) => m.role === 'user' && newFiles(m).length > 0);
  if (named < 0) return [];
  const before = messages.slice(0, named).reduce((sum, { tool_calls = [] }) => sum + tool_calls.length, 0);
  const paths = newFiles(messages[named] ?? { role: '' });
  const isDone = attempts.slice(before).some((each) => !each.failed && each.arguments.includes(removal(paths)));
  return isDone ? [] : paths;
}

function newFiles(message: ChatMessage): string[] {
  return [...textOf(message).matchAll(/^- (\S+) is a new (?:binary )?file/gm)].map(([, path = '']) => path);
}

/** Returns the text of a message; servers accept a string or a list of parts. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (part as { text?: unknown }).text ?? '').join('');
}
