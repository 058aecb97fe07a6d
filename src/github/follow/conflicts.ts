import type { App } from '../../app.ts';
import type { PullRequestRow } from '../../db/tables/task.ts';
import { countMergeableAsk, resetMergeableAsks } from './pull-store.ts';
import { reviseUnasked } from './revise-unasked.ts';

/** The base branch is merged into one pull request at most this many times. Then a person is asked to look. */
const maxMerges = 2;
/**
 * GitHub computes in the background whether a pull request can be merged. Until it knows, we ask again after this many
 * seconds, at most this many times.
 */
const askAgainSeconds = 15;
const maxAsks = 8;

/** Starts a revision that merges the base branch into a pull request, if the two conflict. */
export async function lookForConflict(
  app: App,
  pull: PullRequestRow,
  seen: { mergeable: boolean | null; head: { sha: string }; base: { sha: string; ref: string } },
): Promise<void> {
  const at = { repositoryId: pull.repositoryId, number: pull.number };
  if (seen.mergeable === null) {
    if ((await countMergeableAsk(app.db, at)) < maxAsks)
      await app.queue.send(undefined, 'pull', at, { key: `${pull.url} later`, afterSeconds: askAgainSeconds });
    return;
  }
  await resetMergeableAsks(app.db, at);
  if (seen.mergeable) return;
  await reviseUnasked(app, pull, {
    source: 'conflict',
    cause: `${seen.head.sha}-${seen.base.sha}`,
    text: `The branch conflicts with ${seen.base.ref}. Merge the base branch in and keep what both sides meant.`,
    most: maxMerges,
    tooOften: `it conflicts with its base again, after ${maxMerges} merges by the agent; a person should look`,
  });
}
