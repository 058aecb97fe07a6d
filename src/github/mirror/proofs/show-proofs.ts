import type { App } from '../../../app.ts';
import { type Judged, markedProof, type ProofStatus, proofSentence, worstFirst } from '../../../domain/proof/proof.ts';
import { runPage, taskPage } from '../../../domain/task.ts';
import { harmlessLine, oneLine } from '../../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';
import { listTaskPullsOfHead, type ProvedHead } from '../../../runs/proof/proof-store.ts';
import {
  listProofsOfHead,
  listProofsOfHidden,
  markProofShown,
  type ProofHold,
  type PullProof,
  type ShownProof,
} from '../../../runs/pull-proofs/pull-proofs.ts';
import { findTask } from '../../../tasks/store.ts';
import { forStranger, urgently } from '../../app/pacing.ts';
import { type Place, placeOfRepository } from '../../app/place.ts';
import { eachThenFail } from '../../each-apart.ts';
import type { WantedCheck } from '../mirror.ts';
import { proofCheckName, showCheck } from '../sync-check.ts';
import { areMerged, type Head, holdingUp, type Look, lookAround, type OfStranger, openBases } from './strangers.ts';

/**
 * Shows in check runs what the tests of a pull request prove, one for each of its latest heads. A lock lets one job about a
 * repository run at a time.
 */
export async function showProofs(app: App, taskId: string): Promise<void> {
  const task = await findTask(app.db.manager, taskId);
  if (!task?.hidden) return;
  const em = app.db.manager;
  const [{ repositoryId } = {}] = await listProofsOfHidden(em, taskId);
  const place = repositoryId === undefined ? undefined : await placeOfRepository(app, repositoryId);
  if (place === undefined) return;
  await app.db.withLock(`proofs ${repositoryId}`, async () => {
    const look = lookAround(app, place);
    // Read again, because another job may have shown some of them since.
    const proofs = await listProofsOfHidden(em, taskId);
    await urgently(() => eachThenFail(proofs, (proof) => showHead(look, proof)));
  });
}

/** Handles the `proofCheck` job. */
export async function showHeadJob(app: App, head: Head): Promise<void> {
  const place = await placeOfRepository(app, head.repositoryId);
  if (place === undefined) return;
  await app.db.withLock(`proofs ${head.repositoryId}`, () => urgently(() => showHead(lookAround(app, place), head)));
}

/** What a pull request wants the check run of its head to show. */
interface Wish {
  number: number;
  wanted: WantedCheck;
  status: ProofStatus | null;
  detailsUrl: string;
  /** The branch for which it was found out; null if nothing was, so that it counts for any. */
  base: string | null;
}

type Stranger = OfStranger & { isClosed: boolean };

/** A pull request with the head, and what it may want. The first wish that is about its base counts. */
interface Wishing {
  number: number;
  first: Wish;
  wishes: Wish[];
  /** What it wants if nothing was found out for its base. */
  otherwise: WantedCheck;
  /**
   * Set if it is that of a stranger, which no writer asked to prove. Then it waits for that, or was closed. Without the difference,
   * a stranger could hold up a writer's pull request of the commit.
   */
  stranger: Stranger | undefined;
}

/**
 * Shows the strictest result of a head's pull requests in its check run. GitHub counts the latest check run of a name for all
 * pull requests of a commit, whatever their base branches are, so a head has only one.
 */
async function showHead(look: Look, head: Head): Promise<void> {
  const proofs = await listProofsOfHead(look.app.db.manager, head);
  const isOfStrangers = proofs.every(
    ({ isForeign, status, checkRunId }) => isForeign && status === null && checkRunId === null,
  );
  const show = () => showStrictest(look, head, proofs);
  await (isOfStrangers ? forStranger(show) : show());
}

async function showStrictest(look: Look, head: Head, proofs: ShownProof[]): Promise<void> {
  const { app, place } = look;
  const em = app.db.manager;
  const [first] = proofs;
  if (first === undefined) return;
  const shown = proofs.reduce((newest, each) => ((each.checkRunId ?? 0) > (newest.checkRunId ?? 0) ? each : newest));
  const ofTasks = await listTaskPullsOfHead(em, head);
  // What was found out about a merged pull request stays on its commit. A closed one could be opened again.
  const mayStay = shown.checkRunId !== null && ofTasks.length === 0 && proofs.every(({ isOutdated }) => isOutdated);
  if (mayStay && (await areMerged(place, proofs))) return;
  const { wanted, detailsUrl } = await strictest(look, head, wishesOf(app, proofs, ofTasks));
  const target = { ...place, check: proofCheckName, externalId: first.id, sha: head.headSha, detailsUrl };
  const before = {
    id: shown.checkRunId,
    sha: shown.checkRunId === null ? null : head.headSha,
    shown: shown.checkShown,
  };
  const now = await showCheck(target, before, wanted).catch((error) => {
    // The commit was removed by a push by force, or GitHub lets us show nothing there.
    if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    app.log.info({ err: error, repositoryId: head.repositoryId, sha: head.headSha }, 'a proof cannot be shown');
  });
  if (now !== undefined) await markProofShown(em, head, { checkRunId: now.id, shown: now.shown });
}

/** Returns what the pull requests of a head want, those of tasks too, and those of strangers last. */
function wishesOf(app: App, proofs: ShownProof[], provedHeads: ProvedHead[]): Wishing[] {
  const { BASE_URL: address, COMMAND_PREFIX: prefix } = app.config;
  const isRequired = proofs.some((each) => each.isRequired);
  const otherwise = unprovedHead(isRequired, prefix);
  // Heads that pull requests had before say nothing, unless no other has this one.
  const newest = proofs.filter(({ isLatest }) => isLatest);
  const ofPulls = (newest.length > 0 ? newest : proofs).map((proof): Wish & Pick<Wishing, 'stranger'> => ({
    number: proof.number,
    base: proof.base,
    status: proof.status,
    stranger: proof.isForeign ? { ...proof, isClosed: proof.hold === null } : undefined,
    wanted: wantedCheck(proof, prefix),
    detailsUrl: proof.runId === null ? taskPage(address, proof.taskId) : runPage(address, proof.taskId, proof.runId),
  }));
  const ofTasks = provedHeads.map(({ number, taskId, base, proof }): Wish & Pick<Wishing, 'stranger'> => ({
    number,
    base,
    status: proof?.status ?? null,
    stranger: undefined,
    wanted: proof === null ? otherwise : provedCheck({ ...proof, isRequired }, prefix),
    detailsUrl: taskPage(address, taskId),
  }));
  const groups = Map.groupBy([...ofPulls, ...ofTasks], ({ number }) => number);
  const pulls = [...groups].map(([number, wishes]) => ({
    number,
    first: wishes[0] as Wish,
    wishes,
    otherwise,
    stranger: wishes.every((wish) => wish.stranger !== undefined) ? wishes[0]?.stranger : undefined,
  }));
  return pulls.sort(
    (a, b) =>
      Number(a.stranger !== undefined) - Number(b.stranger !== undefined) ||
      strictness(b.first.wanted) - strictness(a.first.wanted),
  );
}

/** At most this many pull requests of a head are looked at. The next one counts as open. */
const maxAsked = 50;

/**
 * Returns the strictest wish of the pull requests that are open and still have the head. One of a stranger counts if all others
 * are closed, or if it goes into another branch than they do, which requires the check.
 */
async function strictest(look: Look, head: Head, pulls: Wishing[]): Promise<Wish> {
  const others = pulls.filter(({ stranger }) => stranger === undefined);
  const waiting = pulls.flatMap(({ first, stranger }) =>
    stranger === undefined || stranger.isClosed ? [] : [{ ...stranger, first }],
  );
  const open = await openWishes(look.place, head.headSha, others);
  const [first] = open.toSorted((a, b) => strictestFirst(a.wish, b.wish));
  const uncovered = waiting.filter(({ base }) => !open.some((each) => each.base === base));
  const held = first === undefined ? waiting[0] : await holdingUp(look, head, uncovered);
  const found =
    [held?.first, first?.wish].filter((wish) => wish !== undefined).toSorted(strictestFirst)[0] ?? pulls[0]?.first;
  if (found === undefined) throw new Error('no pull request has this head');
  return pulls.length === 1 ? found : naming(found);
}

/** What an open pull request wants, and the branch into which it goes. */
interface OpenWish {
  wish: Wish;
  base: string | null;
}

/** Returns what the open pull requests with the head want. */
async function openWishes(place: Place, sha: string, pulls: Wishing[]): Promise<OpenWish[]> {
  const looked = pulls.slice(0, maxAsked);
  const bases = await openBases(
    place,
    looked.map(({ number }) => number),
    sha,
  );
  const found = looked.flatMap((pull): OpenWish[] => {
    const base = bases.get(pull.number);
    return base === undefined ? [] : [{ wish: wishFor(pull, base), base }];
  });
  return [...found, ...pulls.slice(maxAsked, maxAsked + 1).map(({ first }) => ({ wish: first, base: null }))];
}

/** Returns what a pull request wants that goes into a branch. */
function wishFor({ first, wishes, otherwise }: Wishing, base: string): Wish {
  const found = wishes.find((wish) => wish.base === null || wish.base === base);
  return found ?? { ...first, status: null, wanted: otherwise };
}

const strictestFirst = (a: Wish, b: Wish) =>
  strictness(b.wanted) - strictness(a.wanted) || rankOf(a.status) - rankOf(b.status);

const naming = (wish: Wish): Wish => ({
  ...wish,
  wanted: { ...wish.wanted, title: oneLine(`Pull request #${wish.number}: ${wish.wanted.title}`, maxTitle) },
});

/** The higher, the less may be merged. */
function strictness({ status, conclusion }: WantedCheck): number {
  if (status !== 'completed') return 2;
  return { failure: 4, action_required: 3, cancelled: 1 }[conclusion as string] ?? 0;
}

const rankOf = (status: ProofStatus | null) => (status === null ? worstFirst.length : worstFirst.indexOf(status));

/** Computes what the check run of a proof should show. Pure. */
export function wantedCheck(proof: PullProof, prefix: string): WantedCheck {
  const { status, hold, runStatus } = proof;
  const ask = `\`${prefix} prove\``;
  if (status !== null) return provedCheck({ ...proof, status }, prefix);
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

const requiredConclusions: Partial<Record<ProofStatus, 'failure' | 'action_required'>> = {
  weakened: 'failure',
  not_run: 'action_required',
};

/** Computes the check run of a head of which something was proved. */
function provedCheck(
  {
    status,
    reason,
    isHindered = false,
    isRequired,
    seconds = 0,
    notes = [],
  }: Judged & Pick<PullProof, 'isRequired'> & Partial<Pick<PullProof, 'seconds' | 'notes'>>,
  prefix: string,
): WantedCheck {
  const sentence = { status, reason };
  return {
    status: 'completed',
    // Where weakened tests must not be merged, a change that prevents its proof must not either.
    conclusion: (isRequired && (isHindered ? 'action_required' : requiredConclusions[status])) || 'neutral',
    ...says(
      oneLine(proofSentence(sentence), maxTitle),
      [
        harmlessLine(markedProof(sentence), 2000, prefix),
        '',
        isHindered ? hindered : meanings[status],
        ...(seconds > 0 ? ['', `It took ${timeOf(seconds)}. No model was asked.`] : []),
      ].join('\n'),
    ),
    annotations: notes.map(({ path, line, level, text }) => ({
      path,
      start_line: line,
      end_line: line,
      annotation_level: level,
      message: text,
    })),
  };
}

/** Computes what a pull request wants whose head nobody proved for its base. */
const unprovedHead = (isRequired: boolean, prefix: string): WantedCheck => ({
  status: 'completed',
  conclusion: isRequired ? 'action_required' : 'neutral',
  ...says(
    'This commit was not proved for its base branch',
    `Nothing is known about this commit in the branch into which the pull request goes. \`${prefix} prove\` in a comment there proves it.`,
  ),
});

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

const hindered =
  'The change decides how its own tests run, or changes more than it undoes, so nobody knows whether they were weakened. Propose that part in a pull request of its own first.';

const meanings: Record<NonNullable<PullProof['status']>, string> = {
  proved: 'The checks fail with these tests on the code without the change, and pass with the change.',
  changed: 'A person should look whether the new expectations are right.',
  unproved: 'A person should look whether the tests would notice if the change were missing.',
  weakened: 'Earlier tests fail with this change and were changed or removed by it. A person should look at them.',
  no_tests: 'A test that fails without the change would prove it.',
  not_run:
    'Nothing is known about what the tests prove. If a change of set-up is the reason, propose that in a pull request of its own first.',
};

function timeOf(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
