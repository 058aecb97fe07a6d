import type { Message, ToolCall } from '../../../llm/model.ts';
import { exchangesOf } from './exchanges.ts';

/** At most this many files and commands are listed, the last ones. */
const maxListed = 40;
const maxLineChars = 200;

const reading = /^(read_file|view|open|cat)$/;
const changing = /^(write_file|create_file|edit_file|str_replace|delete_file|apply_patch|insert)/;
const running = /^(run_command|bash|shell|start_process)$/;

/**
 * Lists what happened in a conversation: files read and changed, and commands with their outcomes. Used in place of a
 * summary when the model does not write one.
 */
export function factsOf(messages: Message[]): string {
  const exchanges = exchangesOf(messages);
  const calls = exchanges.flatMap((each) =>
    each.calls.map((call) => ({ call, result: each.results.get(call.id) ?? '' })),
  );
  const worked = calls.filter(({ result }) => !isRefused(result)).map(({ call }) => call);
  const changed = namesOf(worked, changing);
  const read = namesOf(worked, reading).filter((path) => !changed.includes(path));
  const commands = calls.filter(({ call }) => running.test(call.name));
  const lastWords = exchanges.findLast(({ text }) => text.trim() !== '')?.text.trim();
  return [
    `${exchanges.length} ${exchanges.length === 1 ? 'turn' : 'turns'} of the model.`,
    listed('Files changed', changed),
    listed('Files read', read),
    listed(
      'Commands',
      commands.map(({ call, result }) => `${commandOf(call)} → ${firstLine(result)}`),
    ),
    lastWords === undefined ? '' : `The model's last words: ${lastWords.slice(0, 500)}`,
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/** Returns the paths that tools were called with, as the calls name them. */
export function pathsUsed(messages: Message[]): string[] {
  const calls = messages.flatMap((m) => (m.role === 'assistant' ? m.toolCalls : []));
  return [...namesOf(calls, changing), ...namesOf(calls, reading)];
}

function namesOf(calls: ToolCall[], kind: RegExp): string[] {
  return [...new Set(calls.filter((call) => kind.test(call.name)).flatMap(pathsOf))];
}

/** Returns the path of a call, or the paths that its patch names. */
function pathsOf(call: ToolCall): string[] {
  const given = argumentsOf(call);
  const path = given.path ?? given.file_path ?? given.filename ?? given.file;
  if (typeof path === 'string') return [path.replace(/^\.\//, '')];
  if (typeof given.patch !== 'string') return [];
  const heads = given.patch.matchAll(/^(?:\+\+\+ (?:b\/)?|\*\*\* (?:Add|Update|Delete) File: )(\S.*)$/gm);
  return [...heads].map(([, name = '']) => name.trim()).filter((name) => name !== '/dev/null');
}

function commandOf(call: ToolCall): string {
  const { command, cmd } = argumentsOf(call);
  return firstLine(String(command ?? cmd ?? call.name));
}

function argumentsOf(call: ToolCall): Record<string, unknown> {
  try {
    const given: unknown = JSON.parse(call.arguments);
    return typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isRefused(result: string): boolean {
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
