import type { FrontPulls, PullLike } from './front-pulls.ts';
import type { Call } from './git/git-objects.ts';

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

interface Asked {
  method: string;
  path: string;
  authorization: string;
  body?: string | undefined;
}

interface AskedReview {
  event?: string;
  comments?: { path: string; position?: number; line?: number; side?: string; body: string }[];
}

/** The comments of reviews on lines. The emulator knows only positions in the diff. */
export class ReviewLines {
  private readonly places = new Map<number, { line: number; side: string }>();

  /**
   * Returns a review as the emulator takes it, or why GitHub refuses it with 422: a line that the diff does not show, or a
   * decision about one's own pull request.
   */
  async asked(
    { method, path, authorization, body }: Asked,
    pulls: FrontPulls,
    read: (path: string) => Promise<unknown>,
  ): Promise<{ body: string | undefined; refusal?: object }> {
    if (method !== 'POST' || body === undefined || !submitted.test(path)) return { body };
    const { comments = [], ...rest } = JSON.parse(body) as AskedReview;
    const act = { REQUEST_CHANGES: 'request changes on', APPROVE: 'approve' }[rest.event ?? ''];
    const pull = (await read(path.replace(/\/reviews$/, ''))) as PullLike & { user?: { login: string } };
    const isOwn = authorization.includes('ghs_') && pull.user?.login.endsWith('[bot]');
    if (act !== undefined && isOwn) return { body, refusal: refused(`Can not ${act} your own pull request`) };
    const sent = [];
    for (const { line, side = 'RIGHT', ...comment } of comments) {
      const place = line === undefined ? comment : findLine(await pulls.diffOf(pull, comment.path), line, side);
      if (place === undefined) return { body, refusal: refused('Line could not be resolved') };
      sent.push({ ...comment, position: place.position });
    }
    return { body: JSON.stringify({ ...rest, comments: sent }) };
  }

  /** Remembers the lines of a review that was created. Returns the events about its comments, which the emulator does not send. */
  async created(path: string, body: string | undefined, answer: string, call: Call): Promise<object[]> {
    const [, repository, number] = submitted.exec(path) ?? [];
    if (repository === undefined || body === undefined) return [];
    const { id, state } = JSON.parse(answer) as { id: number; state: string };
    const { comments = [] } = JSON.parse(body) as AskedReview;
    const pull = `${repository}/pulls/${number}`;
    const all = await call<ListedComment[]>('GET', `${pull}/comments?per_page=100`);
    const made = all.filter((comment) => comment.pull_request_review_id === id);
    for (const [i, { line, side = 'RIGHT' }] of comments.entries()) {
      const comment = made[i];
      if (line !== undefined && comment !== undefined) this.places.set(comment.id, { line, side });
    }
    // The comments of a review that was not submitted are shown to nobody else.
    if (state === 'PENDING') return [];
    const pull_request = await call<object>('GET', pull);
    return made.map((comment) => ({ action: 'created', comment, pull_request, sender: comment.user }));
  }

  /**
   * Adds the lines of review comments, and gives replies the place of their thread. GitHub leaves lines out where it lists
   * the comments of one review.
   */
  shown(text: string): string {
    const comments = JSON.parse(text) as ListedComment[];
    if (!Array.isArray(comments)) return text;
    const places = new Map<number, object>();
    return JSON.stringify(
      comments.map((c) => {
        const line = c.line ?? c.position ?? null;
        const own = { path: c.path, line, original_line: line, diff_hunk: c.diff_hunk || '@@ -0,0 +1 @@' };
        const kept = this.places.get(c.id);
        const known = kept === undefined ? own : { ...own, ...kept, original_line: kept.line };
        const place = places.get(c.in_reply_to_id ?? 0) ?? known;
        places.set(c.id, place);
        return { ...c, ...place };
      }),
    );
  }
}

const refused = (error: string) => ({ message: 'Unprocessable Entity', errors: [error] });

/** Finds a line in the diff of a file. Its position counts the lines below the first hunk's header. */
function findLine(diff: string, line: number, side: string): { position: number } | undefined {
  const lines = diff.split('\n');
  const at = { old: 0, now: 0 };
  const isHere = (text: string) =>
    side === 'LEFT' ? text.startsWith('-') && at.old === line : /^[ +]/.test(text) && at.now === line;
  for (const [position, text] of lines.slice(lines.findIndex((each) => each.startsWith('@@'))).entries()) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (header === null && isHere(text)) return { position };
    if (header !== null) Object.assign(at, { old: Number(header[1]), now: Number(header[2]) });
    else if (!text.startsWith('+')) at.old++;
    if (header === null && !text.startsWith('-')) at.now++;
  }
  return undefined;
}
