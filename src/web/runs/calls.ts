import { revealHidden } from '../display/hidden-characters.ts';
import { verbOf } from '../display/tool-verbs.ts';

/** A call of a tool, as far as it is known. */
export interface Call {
  /** The name with which the model called the tool; from the log until the turn is stored. */
  name: string;
  /** What the log says that the call is about; empty when it says nothing. */
  about: string;
  /** As the model wrote them; undefined until the turn is stored. */
  arguments: string | undefined;
  result: string | undefined;
  /** Undefined until the call has ended. */
  ok: boolean | undefined;
  exitCode: number | undefined;
  ms: number | undefined;
}

type CallKind = 'command' | 'edit' | 'other';

/** A change of one place in a file, or a patch, which may change several files. */
type Edit = { before: string; after: string } | { patch: string };

/** What a call does. */
export interface Meaning {
  kind: CallKind;
  /** The path, command or other argument that says what the call is about. */
  about: string;
  edits: Edit[];
}

type Given = Record<string, unknown>;

/** Models use many names for the same argument. The first ones are ours. */
const names = {
  path: ['path', 'file_path', 'filename', 'file', 'target_file', 'file_name', 'filepath'],
  command: ['command', 'cmd', 'script', 'shell_command', 'command_line', 'commands'],
  before: ['old', 'old_string', 'old_str', 'old_text', 'search', 'find', 'original', 'old_content', 'target_content'],
  after: ['new', 'new_string', 'new_str', 'new_text', 'replace', 'replacement', 'updated', 'new_content'],
  content: ['content', 'contents', 'file_text', 'insert_text', 'text', 'code', 'file_content', 'body'],
  patch: ['patch', 'diff', 'input', 'patch_text', 'unified_diff', 'patch_content'],
  edits: ['edits', 'changes', 'replacements'],
  pattern: ['pattern', 'query', 'regex'],
  about: ['question', 'name', 'url', 'reason', 'summary', 'skill'],
};

const patchStart = /^(?:\*\*\* |--- |\+\+\+ |@@|<{5,9} ?SEARCH)/m;
const deletes = /delete|remove|unlink|^rm$/i;
/** The tools that run commands or change files, under the names that the log uses. */
const loggedKinds = new Map<string, CallKind>([
  ...['run_command', 'start_process'].map((name) => [name, 'command'] as const),
  ...['write_file', 'edit_file', 'multi_edit', 'insert_lines', 'apply_patch', 'delete_file'].map(
    (name) => [name, 'edit'] as const,
  ),
]);

/**
 * Returns what a call does. Models call the same tools by many names, so its arguments decide; before they are known, the
 * name in the log does.
 */
export function meaningOf(call: Pick<Call, 'name' | 'about' | 'arguments'>): Meaning {
  if (call.arguments === undefined)
    return { kind: loggedKinds.get(call.name) ?? 'other', about: call.about, edits: [] };
  const given = parsed(call.arguments);
  if (call.name.includes('__')) return { kind: 'other', about: aboutOf(given) || call.about, edits: [] };
  const command = commandIn(given);
  if (command !== undefined && textIn(given, names.path) === undefined)
    return { kind: 'command', about: command, edits: [] };
  const edits = editsIn(given);
  const isEdit = edits.length > 0 || (deletes.test(call.name) && textIn(given, names.path) !== undefined);
  return { kind: isEdit ? 'edit' : 'other', about: aboutOf(given) || filesIn(edits) || call.about, edits };
}

/** Says what a call does, as `Run npm test`. */
export function titleOf(call: Pick<Call, 'name' | 'about' | 'arguments'>): string {
  const [line = ''] = meaningOf(call).about.trim().split('\n', 1);
  return revealHidden([verbOf(call.name), line.slice(0, 100)].filter(Boolean).join(' '));
}

function parsed(text: string): Given {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Given) : {};
  } catch {
    return {};
  }
}

function textIn(given: Given, keys: string[]): string | undefined {
  return keys.map((key) => given[key]).find((value): value is string => typeof value === 'string');
}

function aboutOf(given: Given): string {
  const place = [textIn(given, names.pattern), textIn(given, names.path)].filter((text) => text !== undefined);
  return place.length > 0 ? place.join(' in ') : (textIn(given, names.about) ?? '');
}

function commandIn(given: Given): string | undefined {
  const value = names.command.map((key) => given[key]).find((each) => each !== undefined);
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value.join(' ') : undefined;
}

function editsIn(given: Given): Edit[] {
  const patch = textIn(given, names.patch);
  if (patch !== undefined && patchStart.test(patch)) return [{ patch }];
  const single = editIn(given);
  if (single !== undefined) return [single];
  const several = names.edits.map((key) => given[key]).find((value) => Array.isArray(value)) ?? [];
  const edits = (several as unknown[]).flatMap((each) => editIn(Object(each) as Given) ?? []);
  if (edits.length > 0) return edits;
  const content = textIn(given, names.content);
  return content !== undefined && textIn(given, names.path) !== undefined ? [{ before: '', after: content }] : [];
}

function editIn(given: Given): Edit | undefined {
  const before = textIn(given, names.before);
  const after = textIn(given, names.after);
  return before === undefined || after === undefined ? undefined : { before, after };
}

function filesIn([edit]: Edit[]): string {
  if (edit === undefined || !('patch' in edit)) return '';
  const heads = edit.patch.matchAll(/^(?:\*\*\* (?:Add|Update|Delete) File: *|\+\+\+ (?:b\/)?)(\S.*)$/gm);
  return [...new Set([...heads].map(([, path = '']) => path.trim()))].filter((path) => path !== '/dev/null').join(' ');
}

/** How a command ended, and what it wrote. */
interface Outcome {
  /** Such as `exit code 0` or `stopped after 120 s`; undefined if the result does not begin with it. */
  how: string | undefined;
  exitCode: number | undefined;
  seconds: number | undefined;
  output: string;
}

/** Reads the first line of the result of a command, such as `[exit code 0] after 1.2 s`. */
export function outcomeOf(result: string): Outcome {
  const [line, how, exitCode, seconds] =
    /^\[((?:exit code (\d{1,3})|ended by|stopped after|not started)[^\]\n]{0,200})\](?: after ([\d.]{1,10}) s)?(?:\n|$)/.exec(
      result,
    ) ?? [];
  if (line === undefined) return { how: undefined, exitCode: undefined, seconds: undefined, output: result };
  return {
    how,
    exitCode: exitCode === undefined ? undefined : Number(exitCode),
    seconds: seconds === undefined ? undefined : Number(seconds),
    output: result.slice(line.length),
  };
}

/** Returns whether a call failed: it was refused, or its command ended with an error. */
export function isFailed(call: Call): boolean {
  if (call.ok === false) return true;
  const outcome = call.result === undefined ? undefined : outcomeOf(call.result);
  const exitCode = call.exitCode ?? outcome?.exitCode;
  return exitCode === undefined ? outcome?.how !== undefined : exitCode !== 0;
}

/** A line of a diff; `@` begins another place. */
interface DiffLine {
  sign: '+' | '-' | ' ' | '@';
  text: string;
}

/** Unchanged lines shown before and after a change. */
const contextLines = 2;

/** Longer texts are cut, so that a huge file that is written at once does not keep the page busy. */
const maxChars = 100_000;

/** Returns the lines that edits remove and add, with a few unchanged lines around them. */
export function smallDiff(edits: Edit[]): DiffLine[] {
  return edits.flatMap((edit, i) => {
    const lines = 'patch' in edit ? linesOfPatch(edit.patch) : linesBetween(linesOf(edit.before), linesOf(edit.after));
    return i === 0 ? lines : [{ sign: '@', text: '' } as const, ...lines];
  });
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.slice(0, maxChars).replace(/\n$/, '').split('\n');
}

/** Everything between the first and the last difference counts as changed, which takes one pass over the lines. */
function linesBetween(before: string[], after: string[]): DiffLine[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const marked = (sign: DiffLine['sign'], lines: string[]) => lines.map((text) => ({ sign, text }));
  return [
    ...marked(' ', before.slice(Math.max(0, start - contextLines), start)),
    ...marked('-', before.slice(start, before.length - end)),
    ...marked('+', after.slice(start, after.length - end)),
    ...marked(' ', before.slice(before.length - end, before.length - end + contextLines)),
  ];
}

function linesOfPatch(patch: string): DiffLine[] {
  return linesOf(patch)
    .filter((line) => !/^\*\*\* (?:Begin|End) Patch/.test(line))
    .map((line) => {
      if (/^(?:@@|\*\*\* |diff |--- |\+\+\+ )/.test(line)) return { sign: '@', text: line };
      const sign = line.charAt(0);
      return sign === '+' || sign === '-' ? { sign, text: line.slice(1) } : { sign: ' ', text: line.replace(/^ /, '') };
    });
}
