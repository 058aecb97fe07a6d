import { type Proof, proofSentence } from './proof/proof.ts';
import type { OwnedFiles } from './text/code-owners.ts';
import { oneLine } from './text/sanitize.ts';

/** A check of a pull request on GitHub. */
export interface PullCheck {
  name: string;
  outcome: 'passed' | 'failed' | 'running' | 'skipped';
  url: string | null;
  /** Whether the base branch requires it. */
  required: boolean;
}

/** The latest decision of a reviewer. */
export interface PullReview {
  login: string;
  state: 'approved' | 'changes_requested';
  /** Whether a request for changes reaches the agent, which follows people with write permission. Undefined where unknown. */
  isTold?: boolean;
}

/** What GitHub shows of an open pull request. Null where that is unknown. */
export interface PullReadiness {
  /** The name of its repository and its number: `sample #5`. */
  name: string;
  isDraft: boolean;
  /** Whether its head is a commit of ours that is not ready; see `unready_sha`. */
  isUnready: boolean;
  /** Its base branch on GitHub and the one for which it was checked; null if they are the same. */
  moved: { to: string; from: string } | null;
  /** Whether it has no conflict with its base branch; null while GitHub computes that. */
  mergeable: boolean | null;
  /** Whether the rules of the base branch forbid a merge now. */
  isBlocked: boolean;
  checks: PullCheck[] | null;
  reviews: PullReview[] | null;
  /** What the reviews that its base branch requires amount to; null where none is required. */
  review: 'required' | 'approved' | 'changes_requested' | null;
  /** The files whose code owners have not reviewed it. */
  missingOwners: OwnedFiles[] | null;
  /** Whether the base branch requires a review by code owners. */
  needsOwners: boolean;
  /** Why the pull request could not be read. */
  error: string | null;
}

/** Everything that decides whether a task can be merged, and what people should know before they merge it. */
export interface MergeFacts {
  hasLiveRun: boolean;
  /** The latest run was asked for a change and ended without one. */
  changedNothing?: boolean;
  pulls: PullReadiness[];
  proof: Proof | undefined;
  /** Why GitHub no longer merges pull requests when they are ready, one sentence for each. */
  dropped: string[];
  /** Why the person who asks is refused a merge that others may make. */
  ofPerson?: MergeProblem[];
}

/** A problem of a merge, such as a failed check. A merge is refused while one of its problems `blocks` it. */
export interface MergeProblem {
  text: string;
  blocks: boolean;
}

/** More names than this are not listed. */
const maxNames = 5;

/** Returns the problems of a merge. Those that block it come first. */
export function mergeProblems({
  hasLiveRun,
  changedNothing = false,
  pulls,
  proof,
  dropped,
  ofPerson = [],
}: MergeFacts): MergeProblem[] {
  const all: MergeProblem[] = [...ofPerson];
  const blocking = (text: string) => all.push({ text, blocks: true });
  const warning = (text: string) => all.push({ text, blocks: false });
  if (hasLiveRun) blocking('The task has an unfinished run. Wait for it to end, or cancel it.');
  if (pulls.length === 0) blocking('The task has no open pull request to merge.');
  for (const why of dropped) warning(why);
  for (const pull of pulls) all.push(...problemsOf(pull));
  if (changedNothing && !hasLiveRun)
    warning('The last revision changed nothing, so what it was asked for is still open.');
  if (pulls.length > 0 && proof !== undefined && proof.status !== 'proved') warning(proofSentence(proof));
  return [...all.filter((each) => each.blocks), ...all.filter((each) => !each.blocks)];
}

/** Says why a pull request is not merged whose last commit an agent pushed and no check or proof made ready. */
export function unreadyText(name: string): string {
  return `The last commit of ${name} is an agent's and was not checked for the branch into which it goes, or is not ready. Request changes to start another run, or merge it on GitHub yourself.`;
}

/** Explains that a pull request is not merged because its base branch was changed. */
export function movedText(name: string, { to, from }: { to: string; from: string }): string {
  return `${name} goes to the branch ${oneLine(to, 100)} now, not to ${oneLine(from, 100)}. Change its base back, or merge it on GitHub. Its checks count again after another run.`;
}

function problemsOf(pull: PullReadiness): MergeProblem[] {
  const { name, isDraft, isUnready, moved, mergeable, isBlocked, checks, reviews, review, error } = pull;
  const warnings: (string | false)[] = [
    error !== null && `${name} could not be read from GitHub: ${error}`,
    error === null && mergeable === null && `GitHub has not decided yet whether ${name} can be merged.`,
    isBlocked && mergeable === true && !isDraft && `The rules of the base branch of ${name} are not met yet.`,
    review === 'required' && `A review of ${name} that its base branch requires is missing.`,
    ...ownersProblems(pull),
    sentence(checks, 'failed', (n, names) => `${checkCount(n)} of ${name} failed: ${names}.`),
    sentence(checks, 'running', (n, names) => `${checkCount(n)} of ${name} not finished: ${names}.`),
    ...(reviews ?? []).map((review) => review.state === 'changes_requested' && requestText(name, review)),
  ];
  const blocking: (string | false)[] = [
    isDraft && !isUnready && `${name} is a draft. Mark it ready for review on GitHub first.`,
    isDraft &&
      isUnready &&
      `${name} is a draft, because its newest commits are not ready. Let the agent go on, or mark it ready for review on GitHub.`,
    isUnready && !isDraft && unreadyText(name),
    moved !== null && movedText(name, moved),
    mergeable === false && `${name} conflicts with its base branch. Request changes to have the agent resolve this.`,
  ];
  const asProblems = (texts: (string | false)[], blocks: boolean) =>
    texts.filter((text) => text !== false).map((text) => ({ text, blocks }));
  return [...asProblems(blocking, true), ...asProblems(warnings, false)];
}

/** Says who requests changes, and whether that started no run, which the person may expect. */
function requestText(name: string, { login, isTold }: PullReview): string {
  const untold = ' The agent was not told, because it follows only people with write permission.';
  return `${login} requested changes to ${name}.${isTold === false ? untold : ''}`;
}

/** Names the owners whose review is missing. Where none is required, that is still worth knowing. */
function ownersProblems({ name, missingOwners, needsOwners }: PullReadiness): string[] {
  const how = needsOwners ? 'A required review' : 'A review';
  return (missingOwners ?? []).slice(0, maxNames).map(({ owners, paths, count }) => {
    const who = owners.slice(0, maxNames).join(', ');
    const more = count > 1 ? ` and ${count - 1} more` : '';
    return `${how} of ${name} by a code owner is missing: ${oneLine(who, 300)} for ${oneLine(paths[0] ?? '', 200)}${more}.`;
  });
}

function sentence(
  checks: PullCheck[] | null,
  outcome: PullCheck['outcome'],
  say: (count: number, names: string) => string,
): string | false {
  const found = (checks ?? []).filter((check) => check.outcome === outcome);
  // Required checks decide, so they are named first.
  const shown = found.toSorted((a, b) => Number(b.required) - Number(a.required)).slice(0, maxNames);
  const names = shown.map(({ name, required }) => (required ? `${name} (required)` : name)).join(', ');
  return found.length > 0 && say(found.length, found.length > maxNames ? `${names}, …` : names);
}

function checkCount(n: number): string {
  return n === 1 ? '1 check' : `${n} checks`;
}
