import { z } from 'zod';
import type { App, Octokit } from '../../app.ts';
import { isDatabaseAway } from '../../db/database.ts';
import { LeaseLost } from '../../domain/run.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { rightOf } from '../../repositories/permission.ts';
import {
  listUnjudgedNotes,
  markNotUseful,
  type NotUseful,
  type ReviewNote,
  setNoteNumber,
} from '../../runs/reviewing/store.ts';
import { isOurs } from '../../runs/reviewing/summary-comment.ts';
import type { Work } from '../work.ts';
import { noteMarker } from './review-texts.ts';

/** At most this many of our newest comments are looked at, on at most this many pull requests. */
const [maxNotes, maxPulls] = [60, 6];
/** For this many of them GitHub is asked, whatever numbers it lists. */
const maxAsked = 20;

/**
 * Finds out which of our earlier comments people found not useful: somebody with write permission gave a thumbs down, or
 * resolved the thread although its line stayed as it was. GitHub has no event for the former. A failure does not end the run,
 * because the next review asks again.
 */
export async function readFeedback(app: App, work: Work): Promise<void> {
  const { journal, repository, credential } = work;
  await journal.once('review feedback', async () => {
    const notes = await listUnjudgedNotes(app.db.manager, repository.id, maxNotes);
    const pulls = [...Map.groupBy(notes, ({ number }) => number)].slice(0, maxPulls);
    if (pulls.length === 0 || credential.kind === 'none') return {};
    try {
      const octokit = await octokitFor(app, credential);
      const name = { owner: credential.owner, repo: credential.repo };
      const mayJudge = writersOf(octokit, name);
      const newest = new Set(notes.slice(0, maxAsked).map(({ id }) => id));
      const asking = { octokit, name, mayJudge, work, newest };
      for (const [number, own] of pulls) await readPullFeedback(app, asking, number, own);
    } catch (error) {
      if (error instanceof LeaseLost || work.signal.aborted || isDatabaseAway(error)) throw error;
      app.log.warn({ err: error, runId: work.run.id }, 'reactions to earlier comments could not be read');
    }
    return {};
  });
}

type MayJudge = (person: { id: number | bigint; login: string }) => Promise<boolean>;

interface Asking {
  octokit: Octokit;
  name: RepoName;
  mayJudge: MayJudge;
  work: Work;
  /** The ids of the newest comments. */
  newest: Set<string>;
}

/** Strangers on a public repository could otherwise teach the reviewer to be silent. */
function writersOf(octokit: Octokit, name: RepoName): MayJudge {
  const known = new Map<string, Promise<boolean>>();
  return (person) => {
    const { login } = person;
    const asked = known.get(login) ?? rightOf(octokit, name, person).then(({ right }) => right === 'write');
    known.set(login, asked);
    return asked;
  };
}

async function readPullFeedback(app: App, asking: Asking, number: number, notes: ReviewNote[]): Promise<void> {
  const { octokit, name, work } = asking;
  const em = app.db.manager;
  const isOwn = await isOurs(app, work.credential);
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments';
  const at = { ...name, pull_number: number, request: { signal: work.signal } };
  const pages = octokit.paginate.iterator(path, { ...at, per_page: 100 });
  const resolved = await resolvedThreads(asking, number);
  for await (const { data } of pages)
    for (const comment of data) {
      const note = notes.find(({ id }) => comment.body.startsWith(noteMarker(id)));
      if (note === undefined || !isOwn(comment)) continue;
      const githubId = Number(comment.id);
      await setNoteNumber(em, note.id, githubId);
      const isAsked = asking.newest.has(note.id) || mayHaveThumbsDown(comment as Rated);
      const why = await reasonOf(asking, githubId, isAsked, resolved);
      if (why !== undefined) await markNotUseful(em, note.id, why);
    }
}

/** GitHub lists the number of reactions with each comment, which may be a little old. */
interface Rated {
  reactions?: { '-1'?: number };
}

function mayHaveThumbsDown({ reactions }: Rated): boolean {
  return reactions === undefined || (reactions['-1'] ?? 0) > 0;
}

async function reasonOf(
  asking: Asking,
  githubId: number,
  isAsked: boolean,
  resolved: Set<number>,
): Promise<NotUseful | undefined> {
  if (isAsked && (await hasThumbsDown(asking, githubId))) return 'thumbs_down';
  return resolved.has(githubId) ? 'resolved' : undefined;
}

async function hasThumbsDown({ octokit, name, mayJudge }: Asking, commentId: number): Promise<boolean> {
  const path = 'GET /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions';
  const { data } = await octokit.request(path, { ...name, comment_id: commentId, content: '-1', per_page: 100 });
  for (const { user, content } of data)
    if (content === '-1' && user !== null && user.type !== 'Bot' && (await mayJudge(user))) return true;
  return false;
}

/** The REST API does not say whether a thread is resolved. */
const threadsQuery = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $number) { reviewThreads(last: 100) { nodes {
    isResolved isOutdated resolvedBy { login databaseId } comments(first: 1) { nodes { databaseId } }
  } } } }
}`;

const Threads = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviewThreads: z.object({
        nodes: z.array(
          z.object({
            isResolved: z.boolean(),
            isOutdated: z.boolean(),
            resolvedBy: z.object({ login: z.string(), databaseId: z.number().nullish() }).nullable(),
            comments: z.object({ nodes: z.array(z.object({ databaseId: z.number().nullish() })) }),
          }),
        ),
      }),
    }),
  }),
});

/**
 * Returns GitHub's numbers of the first comments of threads that a writer resolved although the line is as it was. If it
 * changed, the comment was of use.
 */
async function resolvedThreads({ octokit, name, mayJudge }: Asking, number: number): Promise<Set<number>> {
  const found = new Set<number>();
  const answer = await octokit.graphql(threadsQuery, { ...name, number });
  const threads = Threads.safeParse(answer).data?.repository.pullRequest.reviewThreads.nodes ?? [];
  for (const { isResolved, isOutdated, resolvedBy, comments } of threads) {
    const first = comments.nodes[0]?.databaseId;
    if (!isResolved || isOutdated || !first || !resolvedBy?.databaseId) continue;
    if (await mayJudge({ id: resolvedBy.databaseId, login: resolvedBy.login })) found.add(first);
  }
  return found;
}
