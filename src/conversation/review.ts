import { countSkips, isUsualTestFile } from '../domain/proof/tests/test-files.ts';
import type { FileDiff } from '../git/diff-files.ts';
import { part } from './prompts.ts';

/** One changed file, as the model sees it: the path has the folder of its repository in front. */
export type ChangedFile = FileDiff;

/** What the service knows of a change besides its files. */
export interface AboutChange {
  /** The title and description of the task. */
  assignment: string;
  /** The paths that the agent read or changed with its file tools. */
  used: string[];
  /** Why the service would refuse the change, one line per file; undefined when it would push it. */
  refused: string | undefined;
  /** What only a person may allow, one line each. */
  held: string[];
  /** What of the form of the pull request is not as the repository wants it, one sentence each. */
  form: string[];
}

/** The opening of what the service says when it will not push a change. */
export const refusalNotice = 'The change was refused before the push.';
/** The line above the diff. What follows it was written by the model. */
export const diffFence = '```diff';

/** Longest diff shown, and the longest part of one file. */
const maxDiffChars = 30_000;
const maxFileChars = 10_000;
/** At most this many files are named in one remark. */
const maxNamed = 20;
/** More added lines than this in one file are rarely meant for a person to review. */
const manyLines = 2000;

/**
 * Writes what the agent sees at its first `finish`: what the service noticed about the change, and the change as a diff of
 * bounded length.
 */
export function reviewText(files: ChangedFile[], about: AboutChange): string {
  const noticed = noticesOf(files, about);
  return [
    part('first-finish'),
    refusalText(about, 'Correct this, or the run fails'),
    about.form.length === 0 ? '' : `The form of the pull request:\n${about.form.map((line) => `- ${line}`).join('\n')}`,
    noticed.length === 0 ? '' : `The host noticed:\n${noticed.map((line) => `- ${line}`).join('\n')}`,
    `${files.length} ${files.length === 1 ? 'file' : 'files'} changed.\n${diffFence}\n${diffText(files)}\n\`\`\``,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/**
 * Tells the agent what the service will not push, and what it pushes only if a person allows it. Empty when there is neither.
 * `what` says what to do about the former.
 */
export function refusalText({ refused, held }: Pick<AboutChange, 'refused' | 'held'>, what: string): string {
  const parts = [
    refused === undefined ? '' : `${what}:\n${refused}`,
    held.length === 0
      ? ''
      : `Only a person can allow the following, and the run waits for that. Remove what the task does not need, then call the tool again:\n${held.map((line) => `- ${line}`).join('\n')}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${refusalNotice} ${parts.join('\n')}`;
}

/** Returns what is unusual about a change, one sentence each. */
export function noticesOf(
  files: ChangedFile[],
  { assignment, used }: Pick<AboutChange, 'assignment' | 'used'>,
): string[] {
  const remarks: [string, (file: ChangedFile) => boolean][] = [
    ['existing tests lost assertions: make sure that they still check what they did', (f) => isTest(f) && hasLost(f)],
    ['tests were removed: restore them unless the task asks for it', (f) => isTest(f) && f.status === 'deleted'],
    ['conflict markers were left', hasConflictMarker],
    ['these look like leftovers: remove them unless the task needs them', (f) => f.status === 'added' && isLeftover(f)],
    [
      'notes such as TODO or FIXME were added: do them now, or name them in nextSteps',
      (f) => hasAdded(f, /\b(TODO|FIXME|XXX)\b/),
    ],
    ['debug output was added', (f) => !isTest(f) && hasAdded(f, debugOutput)],
    ['very large or binary files were added: keep them only if the task needs them', isHuge],
    ['these files were not opened with a file tool, so a command changed them', (f) => !isUsed(f, used)],
    ['these files are far from what the task names: make sure that it needs them', farFrom(assignment, files)],
  ];
  return remarks.flatMap(([text, applies]) => {
    const found = files.filter(applies).map(({ path }) => onOneLine(path));
    const more = found.length > maxNamed ? ` and ${found.length - maxNamed} more` : '';
    return found.length === 0 ? [] : [`${text}: ${found.slice(0, maxNamed).join(', ')}${more}`];
  });
}

function isTest({ path }: ChangedFile): boolean {
  return isUsualTestFile(path);
}

/** Lines that declare a test or assert something, in the common languages. */
const checking =
  /\b(assert\w*!?|expect|refute\w*|should|must_\w+|XCTAssert\w*|t\.(is|deepEqual|true|false|Error\w*|Fatal\w*)|is_deeply)\b|\b(test|it|specify|describe|context)(\.\w+)?[( ]["'`]|^.\s*((async )?def test|func Test|(it|test|specify) )|@Test\b|#\[test\]/;

/** Returns whether an existing file has fewer tests or assertions than before, or more that are switched off. */
function hasLost({ status, hunks }: ChangedFile): boolean {
  if (status !== 'modified' && status !== 'renamed') return false;
  const those = (sign: string) => hunks.flatMap(({ lines }) => lines.filter((line) => line.startsWith(sign)));
  const count = (lines: string[]) => lines.filter((line) => checking.test(line.replace(/\/\/.*|#(?!\[).*/, ''))).length;
  const skips = (lines: string[]) => countSkips(lines.map((line) => line.slice(1)).join('\n'));
  const [removed, added] = [those('-'), those('+')];
  return count(added) < count(removed) || skips(added) > skips(removed);
}

const leftoverName =
  /\.(orig|rej|bak|tmp|temp|swp|log|pid|pyc|class|o)$|~$|(^|\/)(\.DS_Store|Thumbs\.db|nohup\.out|core|__pycache__\/.*|\.pytest_cache\/.*)$|(^|\/)(debug|scratch|tmp|temp|repro|reproduce|reproduction|playground)([._-][^/]*)?\.[a-z]+$|(^|\/)(debug|scratch|tmp|temp|repro)\//i;

function isLeftover({ path }: ChangedFile): boolean {
  return leftoverName.test(path);
}

const debugOutput =
  /\bconsole\.(log|debug)\(|\bdebugger\b|\bbreakpoint\(\)|\bpdb\.set_trace\(|\bbinding\.pry\b|\bvar_dump\(|\bdbg!\(/;

function hasAdded({ hunks }: ChangedFile, pattern: RegExp): boolean {
  return hunks.some(({ lines }) => lines.some((line) => line.startsWith('+') && pattern.test(line)));
}

/** Git's markers; `=======` alone is also an underline in Markdown. */
function hasConflictMarker(file: ChangedFile): boolean {
  return hasAdded(file, /^\+(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|)( |$)/);
}

function isHuge({ status, additions, binary, truncated }: ChangedFile): boolean {
  return status === 'added' && (additions > manyLines || binary === true || truncated === true);
}

function isUsed({ path, previousPath }: ChangedFile, used: string[]): boolean {
  return used.some((name) => name === path || name === previousPath);
}

/**
 * Returns whether a file lies outside of the top folders that the task names. A task that names no file of the change
 * says nothing about where its work is.
 */
function farFrom(assignment: string, files: ChangedFile[]): (file: ChangedFile) => boolean {
  const isNamed = ({ path }: ChangedFile) => namesOf(path).some((name) => assignment.includes(name));
  const folders = new Set(files.filter(isNamed).map(({ path }) => topOf(path)));
  const belongs = (file: ChangedFile) => isNamed(file) || isTest(file) || isDocument.test(file.path);
  return (file) => folders.size > 0 && !belongs(file) && !folders.has(topOf(file.path));
}

/** Documents and changelogs accompany changes anywhere. */
const isDocument = /\.(md|mdx|rst|adoc|txt)$/i;

/** Returns how a text may name a file: by its path, or by its name unless that is too short to mean it. */
function namesOf(path: string): string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.length > 4 ? [path, name] : [path];
}

/** Returns the first folder of a path; '' for a file at the root. */
function topOf(path: string): string {
  const [top = '', ...rest] = path.replace(/^\.\.\/[^/]+\//, '').split('/');
  return rest.length === 0 ? '' : top;
}

function diffText(files: ChangedFile[]): string {
  const shown: string[] = [];
  let left = maxDiffChars;
  for (const [i, file] of files.entries()) {
    const text = fileText(file).slice(0, maxFileChars);
    if (text.length > left) {
      const names = files.slice(i).map(({ path, status }) => `${onOneLine(path)} (${status})`);
      return [...shown, `[not shown, too long: ${names.join(', ').slice(0, 2000)}]`].join('\n');
    }
    shown.push(text);
    left -= text.length;
  }
  return shown.join('\n');
}

function fileText({ path, previousPath, status, hunks, binary, truncated }: ChangedFile): string {
  const head = `--- ${status === 'added' ? '/dev/null' : onOneLine(previousPath ?? path)}\n+++ ${status === 'deleted' ? '/dev/null' : onOneLine(path)}`;
  if (binary) return `${head}\n[binary or very large]`;
  const body = hunks.map(
    (h) => `@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@\n${h.lines.join('\n')}`,
  );
  return [head, ...body, ...(truncated ? ['[… the rest is left out …]'] : [])].join('\n');
}

/** Replaces control characters, because a line break in a file name would look like another remark. */
function onOneLine(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 300);
}
