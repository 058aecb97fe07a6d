import type { Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { listNewest } from '../paginate.ts';

/** A comment on a line of a pull request, as GitHub lists it. */
export interface DiffComment {
  id: number;
  node_id: string;
  user: { id: number; login: string; type?: string } | null;
  body: string;
  path: string;
  /** Unset when the line is no longer part of the diff, and for comments on a whole file. */
  line?: number | null;
  original_line?: number | null;
  side?: string;
  diff_hunk?: string;
  subject_type?: string | null;
  in_reply_to_id?: number | null;
  pull_request_review_id: number | null;
  created_at: string;
}

/** A conversation at one place in the diff of a pull request. */
export interface DiffThread {
  /** GitHub's number of its first comment, the only one that takes replies. */
  firstId: number;
  /** Oldest first. The first one is missing if it was deleted. */
  comments: DiffComment[];
}

/** The conversations in the diff of a pull request, oldest first. */
export interface DiffThreads {
  threads: DiffThread[];
  /** Older comments exist, which were not read. */
  isCut: boolean;
}

/** Reads the newest 1,000 comments in the diff of a pull request. Anybody may write thousands of 64 kB. */
export async function readThreads(octokit: Octokit, name: RepoName, number: number): Promise<DiffThreads> {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments';
  const { items, isCut } = await listNewest((page) => octokit.request(path, { ...name, pull_number: number, ...page }));
  const firstOf = new Map<number, number>();
  const threads = new Map<number, DiffComment[]>();
  for (const comment of items as DiffComment[]) {
    const before = comment.in_reply_to_id;
    const first = before === undefined || before === null ? comment.id : (firstOf.get(before) ?? before);
    firstOf.set(comment.id, first);
    const thread = threads.get(first) ?? [];
    thread.push(comment);
    threads.set(first, thread);
  }
  return { threads: [...threads].map(([firstId, comments]) => ({ firstId, comments })), isCut };
}

/** Names the place of a thread: `src/a.ts:12`. A removed line has its number in the old file. */
export function placeOf({ path, line, original_line, side }: DiffComment): string {
  const at = line ?? original_line;
  return `${path}${at ? `:${at}` : ''}${side === 'LEFT' ? ' (removed line)' : ''}`;
}

/** Returns where a comment on a line stands. GitHub's replies name the first comment of their thread. */
export function threadOf(comment: {
  id: number;
  in_reply_to_id?: number | null;
  pull_request_review_id?: number | null;
}) {
  const { id: commentId, in_reply_to_id, pull_request_review_id: reviewId = null } = comment;
  return { kind: 'thread', commentId, firstId: in_reply_to_id ?? commentId, reviewId } as const;
}
