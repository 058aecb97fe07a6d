import type { Call } from './git-objects.ts';

interface ListedComment {
  id: number;
  in_reply_to_id?: number | null;
  path: string;
  pull_request_review_id: number | null;
  user: object;
  line?: number | null;
  position?: number | null;
  diff_hunk?: string;
}

const submitted = /^(\/repos\/[^/]+\/[^/]+)\/pulls\/(\d+)\/reviews$/;

/** Returns the events about the comments of a review, which the emulator does not send. */
export async function commentEvents(path: string, answer: string, call: Call): Promise<object[]> {
  const [, repository, number] = submitted.exec(path) ?? [];
  if (repository === undefined) return [];
  const { id, state } = JSON.parse(answer) as { id: number; state: string };
  // The comments of a review that was not submitted are shown to nobody else.
  if (state === 'PENDING') return [];
  const pull_request = await call<object>('GET', `${repository}/pulls/${number}`);
  const comments = await call<ListedComment[]>('GET', `${repository}/pulls/${number}/comments?per_page=100`);
  return comments
    .filter((comment) => comment.pull_request_review_id === id)
    .map((comment) => ({ action: 'created', comment, pull_request, sender: comment.user }));
}

/**
 * Adds the lines of review comments, for which the emulator stores positions only, and gives replies the place of their
 * thread. GitHub leaves lines out where it lists the comments of one review.
 */
export function withLines(text: string): string {
  const comments = JSON.parse(text) as ListedComment[];
  if (!Array.isArray(comments)) return text;
  const places = new Map<number, { path: string; line: number | null; diff_hunk: string }>();
  return JSON.stringify(
    comments.map((c) => {
      const own = { path: c.path, line: c.line ?? c.position ?? null, diff_hunk: c.diff_hunk || '@@ -0,0 +1 @@' };
      const place = places.get(c.in_reply_to_id ?? 0) ?? own;
      places.set(c.id, place);
      return { ...c, ...place, original_line: place.line };
    }),
  );
}
