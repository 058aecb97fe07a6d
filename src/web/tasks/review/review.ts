import type { FileDiff, reviseTask, Task, TaskDiff } from '../../api.ts';
import { revealHidden } from '../../display/hidden-characters.ts';

/** What the service takes as a request for changes. */
export type ReviseTask = Parameters<typeof reviseTask>[1];

/** A comment on a line of a diff. Its author has not submitted it yet. */
export interface DraftComment {
  id: string;
  path: string;
  /** Whether the line is part of the old or of the new file. */
  side: 'old' | 'new';
  line: number;
  /** The line as it was when it was commented on. */
  quote: string;
  text: string;
}

/** What a person has noted about the diff of a task: comments that are not sent yet, and the files that they viewed. */
export interface Review {
  /** When it was changed last, in ms. */
  at: number;
  comments: DraftComment[];
  /** Digests of the viewed files by their paths. A file that changes is no longer viewed. */
  viewed: Record<string, string>;
}

/** Returns whether comments on the diff of a task can still be sent, now or later. */
export const takesComments = ({ status }: Pick<Task, 'status'>) => status !== 'done';

/** A review with more comments than this could not be sent with one request. */
export const maxComments = 200;
/** More viewed files than this are not kept. Those that were marked first are removed first. */
const maxViewed = 1000;
/** Characters of a line that comments are compared by. A line of generated code may be as long as its file. */
const maxKeptQuote = 1000;

export const emptyReview: Review = { at: 0, comments: [], viewed: {} };

const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads a stored review. Other versions of the dashboard may have written it, so what does not fit is left out. */
export function readReview(stored: string | null): Review {
  let value: Partial<Review> | null;
  try {
    value = JSON.parse(stored ?? 'null') as Partial<Review> | null;
  } catch {
    return emptyReview;
  }
  if (typeof value !== 'object' || value === null) return emptyReview;
  const comments = (Array.isArray(value.comments) ? value.comments : []).filter(
    (c: Partial<DraftComment> | null) =>
      [c?.id, c?.path, c?.quote, c?.text].every(isText) &&
      ['old', 'new'].includes(c?.side ?? '') &&
      c?.line !== undefined,
  );
  const viewed = Object.entries(value.viewed ?? {}).filter(([, digest]) => isText(digest));
  return {
    at: Number(value.at) || 0,
    comments: comments.slice(0, maxComments),
    viewed: Object.fromEntries(viewed.slice(-maxViewed)),
  };
}

/** Returns the review with a comment that is new or has changed, or the same review if it is full. */
export function withComment(review: Review, comment: DraftComment): Review {
  const isKnown = review.comments.some(({ id }) => id === comment.id);
  if (!isKnown && review.comments.length >= maxComments) return review;
  const comments = isKnown
    ? review.comments.map((each) => (each.id === comment.id ? comment : each))
    : [...review.comments, comment];
  return { ...review, comments };
}

export function withoutComment(review: Review, id: string): Review {
  return { ...review, comments: review.comments.filter((each) => each.id !== id) };
}

/** Returns the comments with a text. An editor that was opened and left empty is no comment. */
export function writtenComments({ comments }: Review): DraftComment[] {
  return comments.filter(({ text }) => text.trim() !== '');
}

const digests = new WeakMap<FileDiff, string>();

/** Returns a digest of a file's diff. */
export function digestOfFile(file: FileDiff): string {
  const digest = digests.get(file) ?? digestOf(JSON.stringify(file));
  digests.set(file, digest);
  return digest;
}

export function isViewed({ viewed }: Review, file: FileDiff): boolean {
  return Object.hasOwn(viewed, file.path) && viewed[file.path] === digestOfFile(file);
}

export function withViewed(review: Review, file: FileDiff, isNowViewed: boolean): Review {
  const { [file.path]: _, ...others } = review.viewed;
  if (!isNowViewed) return { ...review, viewed: others };
  const kept = Object.entries(others).slice(1 - maxViewed);
  return { ...review, viewed: { ...Object.fromEntries(kept), [file.path]: digestOfFile(file) } };
}

/** Returns whether two reviews say the same about a file. */
export function isSameAbout(path: string, a: Review, b: Review): boolean {
  const about = ({ comments, viewed }: Review) => [comments.filter((each) => each.path === path), viewed[path]];
  return JSON.stringify(about(a)) === JSON.stringify(about(b));
}

/** A line of a diff. */
export interface DiffLine {
  side: 'old' | 'new';
  line: number;
  quote: string;
}

/** Returns the lines of a file's diff, without what marks them as added or removed. */
export function linesOf({ hunks }: Pick<FileDiff, 'hunks'>): DiffLine[] {
  return hunks.flatMap(({ oldStart, newStart, lines }) => {
    let [oldLine, newLine] = [oldStart, newStart];
    return lines.map((text): DiffLine => {
      const quote = text.slice(1, 1 + maxKeptQuote);
      if (text.startsWith('-')) return { side: 'old', line: oldLine++, quote };
      if (!text.startsWith('+')) oldLine++;
      return { side: 'new', line: newLine++, quote };
    });
  });
}

/** Returns whether the line that a comment is about is still in the diff. */
export function isCurrent(comment: DraftComment, diff: Pick<TaskDiff, 'files'> | undefined): boolean {
  const file = diff?.files.find(({ path }) => path === comment.path);
  return file !== undefined && linesOf(file).some((each) => isAbout(comment, each));
}

export function isAbout(comment: DraftComment, { side, line, quote }: DiffLine): boolean {
  return comment.side === side && comment.line === line && comment.quote === quote;
}

/** Names the place of a comment: `src/a.ts:12`. */
export function placeOf({ path, side, line }: Pick<DraftComment, 'path' | 'side' | 'line'>): string {
  return `${revealHidden(path)}:${line}${side === 'old' ? ' (removed line)' : ''}`;
}

/** Longest text and comment that the service accepts, and all of them together, in characters. */
export const [maxRequest, maxWhole] = [10_000, 60_000];
/** Returns a request for changes, as it is sent: what the person says about the whole, and each comment with its line. */
export function requestOf(about: string, comments: DraftComment[]): ReviseTask {
  const sent = comments.map(({ path, side, line, quote, text }) => ({ path, side, line, quote, text: text.trim() }));
  return { text: about.trim(), comments: sent };
}

/** Returns how many characters of a request the person wrote. */
export function lengthOf({ text = '', comments = [] }: ReviseTask): number {
  return comments.reduce((sum, each) => sum + each.text.length, text.length);
}

/**
 * Returns a short digest of a text, to notice that it has changed. It is not safe against people who want two texts to
 * have the same digest.
 */
function digestOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x5bd1e995);
    b ^= b >>> 13;
  }
  return `${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}.${text.length.toString(36)}`;
}
