import type { App } from '../../app.ts';
import type { PullRequestRow } from '../../db/work-tables.ts';
import { reviseUnasked } from './revise-unasked.ts';

/** So often the base branch is merged into one pull request. */
const maxMerges = 2;
/** GitHub works out in the background whether a pull request can be merged. */
const askAgainSeconds = 15;
const maxAsks = 8;

/** A pull request that conflicts with its base gets a revision that merges the base in, at most twice. */
export async function lookForConflict(
  app: App,
  pull: PullRequestRow,
  seen: { mergeable: boolean | null; head: { sha: string }; base: { sha: string; ref: string } },
): Promise<void> {
  const at = { repositoryId: pull.repositoryId, number: pull.number };
  if (seen.mergeable === null) {
    const asked = await app.db.prepared<{ asks: number }>(
      'ask mergeable',
      `update pull_requests set mergeable_asks = mergeable_asks + 1 where repository_id = $1 and number = $2
       returning mergeable_asks as asks`,
      [at.repositoryId, at.number],
    );
    if ((asked[0]?.asks ?? maxAsks) < maxAsks)
      await app.queue.send(undefined, 'pull', at, { key: `${pull.url} later`, afterSeconds: askAgainSeconds });
    return;
  }
  await app.db.prepared(
    'know mergeable',
    'update pull_requests set mergeable_asks = 0 where repository_id = $1 and number = $2 and mergeable_asks > 0',
    [at.repositoryId, at.number],
  );
  if (seen.mergeable) return;
  await reviseUnasked(app, pull, {
    source: 'conflict',
    cause: `${seen.head.sha}-${seen.base.sha}`,
    text: `The branch conflicts with ${seen.base.ref}. Merge the base branch in and keep what both sides meant.`,
    most: maxMerges,
    tooOften: `it conflicts with its base again, after ${maxMerges} merges by the agent; a person should look`,
  });
}
