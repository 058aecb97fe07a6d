import type { App } from '../../../app.ts';
import { markedProof, proofSentence } from '../../../domain/proof/proof.ts';
import { runPage, taskPage } from '../../../domain/task.ts';
import { harmlessLine, oneLine } from '../../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';
import {
  listOthersOfHead,
  listProofsOfHidden,
  markProofShown,
  type ProofHold,
  type PullProof,
  type ShownProof,
} from '../../../runs/reviewing/pull-proofs.ts';
import { findTask } from '../../../tasks/store.ts';
import { type Place, placeOfRepository } from '../../app/place.ts';
import { eachThenFail } from '../../each-apart.ts';
import type { WantedCheck } from '../mirror.ts';
import { proofCheckName, showCheck } from '../sync-check.ts';

/**
 * Shows in check runs what the tests of a pull request prove, for each of its latest heads, and for other pull requests of
 * these heads. A lock lets one job about a repository run at a time.
 */
export async function showProofs(app: App, taskId: string): Promise<void> {
  const task = await findTask(app.db.manager, taskId);
  if (!task?.hidden) return;
  const em = app.db.manager;
  const [{ repositoryId } = {}] = await listProofsOfHidden(em, taskId);
  const place = repositoryId === undefined ? undefined : await placeOfRepository(app, repositoryId);
  if (place === undefined) return;
  await app.db.withLock(`proofs ${repositoryId}`, async () => {
    // Read again, because another job may have shown some of them since.
    await eachThenFail(await listProofsOfHidden(em, taskId), async (proof) => {
      const others = await listOthersOfHead(em, proof);
      await eachThenFail([proof, ...others], (each) =>
        showProof(
          app,
          place,
          each,
          [proof, ...others].filter((other) => other !== each),
        ),
      );
    });
  });
}

/** Shows a proof in its check run. `others` are those of the same commit. */
async function showProof(app: App, place: Place, proof: ShownProof, others: PullProof[]): Promise<void> {
  const { id, headSha: sha, runId, taskId } = proof;
  const base = app.config.BASE_URL;
  const detailsUrl = runId === null ? taskPage(base, taskId) : runPage(base, taskId, runId);
  const target = { ...place, check: proofCheckName, externalId: id, sha, detailsUrl };
  const before = { id: proof.checkRunId, sha: proof.checkRunId === null ? null : sha, shown: proof.checkShown };
  const show = async () => showCheck(target, before, await strictest(app, place, proof, others));
  const now = await show().catch((error) => {
    // The commit was removed by a push by force, or GitHub lets us show nothing there.
    if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    app.log.info({ err: error, taskId }, 'a proof cannot be shown');
  });
  if (now !== undefined) await markProofShown(app.db.manager, id, { checkRunId: now.id, shown: now.shown });
}

/**
 * Returns what the check run of a proof shows. GitHub counts the latest check run of a name for all pull requests of a
 * commit, whatever their base branches are. So each of them shows the result that lets the least be merged.
 */
async function strictest(app: App, place: Place, proof: PullProof, others: PullProof[]): Promise<WantedCheck> {
  const prefix = app.config.COMMAND_PREFIX;
  const own = wantedCheck(proof, prefix);
  const stricter = others
    .map((other) => ({ other, wanted: wantedCheck(other, prefix) }))
    .filter(({ wanted }) => strictness(wanted) > strictness(own))
    .sort((a, b) => strictness(b.wanted) - strictness(a.wanted));
  for (const { other, wanted } of stricter)
    if (await isStillOf(place, other))
      return { ...wanted, title: oneLine(`Pull request #${other.number}: ${wanted.title}`, maxTitle) };
  return own;
}

/** The higher, the less may be merged. */
function strictness({ status, conclusion }: WantedCheck): number {
  if (status !== 'completed') return 2;
  return { failure: 4, action_required: 3, cancelled: 1 }[conclusion as string] ?? 0;
}

/** Returns whether a pull request is open, and has the head of a proof. */
async function isStillOf({ octokit, name }: Place, { number, headSha }: PullProof): Promise<boolean> {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const { data } = await octokit.request(path, { ...name, pull_number: number });
  return data.state === 'open' && data.head.sha === headSha;
}

/** Computes what the check run of a proof should show. Pure. */
export function wantedCheck(proof: PullProof, prefix: string): WantedCheck {
  const { status, reason, hold, runStatus, isRequired } = proof;
  const ask = `\`${prefix} prove\``;
  if (status !== null) {
    const sentence = { status, reason };
    return {
      status: 'completed',
      conclusion: status === 'weakened' && isRequired ? 'failure' : 'neutral',
      ...says(
        oneLine(proofSentence(sentence), maxTitle),
        [
          harmlessLine(markedProof(sentence), 2000, prefix),
          '',
          meanings[status],
          ...(proof.seconds > 0 ? ['', `It took ${timeOf(proof.seconds)}. No model was asked.`] : []),
        ].join('\n'),
      ),
      annotations: proof.notes.map(({ path, line, level, text }) => ({
        path,
        start_line: line,
        end_line: line,
        annotation_level: level,
        message: text,
      })),
    };
  }
  if (hold !== null) return heldCheck(hold, proof, prefix);
  if (runStatus === null || runStatus === 'cancelled')
    return {
      status: 'completed',
      conclusion: 'cancelled',
      ...says('Cancelled', `A newer commit took the place of this one, or somebody stopped it. ${ask} tries it again.`),
    };
  return {
    status: runStatus === 'queued' ? 'queued' : 'in_progress',
    ...says(
      runStatus === 'queued' ? 'Waits for its turn' : 'Trying the tests with and without the change',
      'Proofs run when no task of the project waits.',
    ),
  };
}

const says = (title: string, summary: string) => ({ title, summary, actions: [] });

/** Computes the check run of a head that is not tried yet. */
function heldCheck(hold: ProofHold, { reason, isRequired, minutesPerDay }: PullProof, prefix: string): WantedCheck {
  const ask = `\`${prefix} prove\``;
  // Where weakened tests must not be merged, a head that nobody looked at must not either.
  const untried = { status: 'completed', conclusion: isRequired ? 'action_required' : 'neutral' } as const;
  if (hold === 'writer')
    return {
      ...untried,
      ...says(
        'Waits for somebody with write permission',
        `The tests of this commit run only if somebody with write permission comments ${ask}, because the pull request comes from a fork, or its author may not write here. They get no secrets, and nothing of what they make is kept.`,
      ),
    };
  if (hold === 'minutes')
    return {
      ...untried,
      ...says(
        'The minutes of today are used up',
        `Proofs in this repository may take ${minutesPerDay ?? 0} minutes a day (UTC), and today they have. This commit is tried tomorrow, or now if somebody with write permission comments ${ask}. \`prove: { minutesPerDay }\` in .deckhand.yml changes the limit.`,
      ),
    };
  return {
    ...untried,
    ...(reason === null
      ? says(
          'No proof is wanted',
          `When this commit came, .deckhand.yml could not be used. Now it can, and it does not say \`prove: everyone\`. ${ask} proves the commit.`,
        )
      : says(
          '.deckhand.yml cannot be used',
          `Nobody knows whether this repository wants proofs of pull requests, because its settings cannot be read:\n\n${harmlessLine(reason, 2000, prefix)}\n\nCorrect the file on the default branch. Then this commit is looked at again within half an hour, or at once if somebody with write permission comments ${ask}.`,
        )),
  };
}

/** GitHub's titles of check runs have at most 255 characters. */
const maxTitle = 250;

const meanings: Record<NonNullable<PullProof['status']>, string> = {
  proved: 'The checks fail with these tests on the code without the change, and pass with the change.',
  changed: 'A person should look whether the new expectations are right.',
  unproved: 'A person should look whether the tests would notice if the change were missing.',
  weakened: 'Earlier tests fail with this change and were changed or removed by it. A person should look at them.',
  no_tests: 'A test that fails without the change would prove it.',
  not_run: 'Nothing is known about what the tests prove.',
};

function timeOf(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
