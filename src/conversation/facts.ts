import type { Message, ToolCall } from '../llm/model.ts';
import { type MeantCall, meantCall } from './tools.ts';

/** One of the model's answers and what followed it, until the next answer. */
export interface Exchange {
  text: string;
  calls: ToolCall[];
  /** The results by the id of their call. Some servers use the same ids in every answer. */
  results: Map<string, string>;
  /** What the service said to the model after the results. */
  remarks: string[];
}

/** Divides a conversation into the model's answers. What comes before the first answer is left out. */
export function exchangesOf(messages: Message[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const message of messages) {
    const current = exchanges.at(-1);
    if (message.role === 'assistant')
      exchanges.push({ text: message.content, calls: message.toolCalls, results: new Map(), remarks: [] });
    else if (message.role === 'tool') current?.results.set(message.toolCallId, message.content);
    else current?.remarks.push(message.content);
  }
  return exchanges;
}

/** At most this many files and commands are listed, the last ones. */
const maxListed = 40;
const maxLineChars = 200;

/** What happened in a part of a conversation. */
export interface Facts {
  turns: number;
  changed: string[];
  read: string[];
  commands: string[];
  lastWords: string | undefined;
}

/**
 * Lists what happened in a conversation: files read and changed, and commands with their outcomes. Used in place of a
 * summary when the model does not write one.
 */
export function factsOf(messages: Message[]): string {
  return tellFacts([factsIn(messages)]);
}

export function factsIn(messages: Message[]): Facts {
  const exchanges = exchangesOf(messages);
  const calls = exchanges.flatMap(({ calls, results }) =>
    calls.flatMap((call) => ({ call: meantCall(call), result: results.get(call.id) ?? '' })),
  );
  const worked = calls.filter(({ result }) => !isRefused(result)).map(({ call }) => call);
  return {
    turns: exchanges.length,
    changed: filesOf(worked, (call) => call.changes),
    read: filesOf(worked, isReading),
    commands: calls.flatMap(({ call, result }) =>
      typeof call?.args.command === 'string' ? [`${firstLine(call.args.command)} → ${firstLine(result)}`] : [],
    ),
    lastWords: exchanges.findLast(({ text }) => text.trim() !== '')?.text.trim(),
  };
}

/**
 * Writes down the facts of a conversation from those of its parts, as Markdown. Of the first `unread` turns nothing is known.
 */
export function tellFacts(parts: Facts[], unread = 0): string {
  const turns = parts.reduce((sum, part) => sum + part.turns, unread);
  const changed = new Set(parts.flatMap((part) => part.changed));
  const read = [...new Set(parts.flatMap((part) => part.read))].filter((path) => !changed.has(path));
  const lastWords = parts.findLast((part) => part.lastWords !== undefined)?.lastWords;
  return [
    `${turns} ${turns === 1 ? 'turn' : 'turns'} of the model.`,
    unread === 0 ? '' : `The first ${unread} of them are not described here, because the conversation is too long.`,
    listed('Files changed', [...changed]),
    listed('Files read', read),
    listed(
      'Commands',
      parts.flatMap((part) => part.commands),
    ),
    lastWords === undefined ? '' : `The model's last words: ${lastWords.slice(0, 500)}`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Returns the paths of the files that the model read or changed with file tools, or tried to. */
export function pathsUsed(messages: Message[]): string[] {
  const calls = messages.flatMap((m) => (m.role === 'assistant' ? m.toolCalls.map(meantCall) : []));
  return filesOf(calls, (call) => call.changes || isReading(call));
}

const isReading = ({ name }: MeantCall) => name === 'read_file';

function filesOf(calls: (MeantCall | undefined)[], isWanted: (call: MeantCall) => boolean): string[] {
  return [...new Set(calls.flatMap((call) => (call !== undefined && isWanted(call) ? pathsOf(call) : [])))];
}

/** Returns the path of a call, or the paths that its patch names. */
function pathsOf({ args: { path, patch } }: MeantCall): string[] {
  if (typeof path === 'string') return [path.replace(/^\.\//, '')];
  if (typeof patch !== 'string') return [];
  const heads = patch.matchAll(/^(?:\+\+\+ (?:b\/)?|\*\*\* (?:Add|Update|Delete) File: )(\S.*)$/gm);
  return [...heads].map(([, name = '']) => name.trim()).filter((name) => name !== '/dev/null');
}

/** Returns whether the result of a call says that the call failed or was not executed. */
export function isRefused(result: string): boolean {
  return result === '' || result.startsWith('Error: ') || result.startsWith('not run: ');
}

function listed(title: string, lines: string[]): string {
  if (lines.length === 0) return '';
  const more = lines.length > maxListed ? [`- (${lines.length - maxListed} earlier ones)`] : [];
  return [`${title}:`, ...more, ...lines.slice(-maxListed).map((line) => `- ${line}`)].join('\n');
}

function firstLine(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').slice(0, maxLineChars);
}
