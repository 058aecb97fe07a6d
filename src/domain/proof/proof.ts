/**
 * What a proof says about a change. Only `proved` means that the tests of the change prove it. `changed` means that they
 * do, but that earlier tests expect something else, and a person has to decide whether the new expectations are right.
 */
export const proofStatuses = ['proved', 'changed', 'unproved', 'weakened', 'no_tests', 'not_run'] as const;
export type ProofStatus = (typeof proofStatuses)[number];

/** The result of a proof. */
export interface Proof {
  status: ProofStatus;
  /** Whether the checks fail on the base's code with the tests of the change; null when unknown. */
  newTestsFailOnBase: boolean | null;
  /** Whether the checks pass on the code of the change with the tests of the base; null when unknown. */
  oldTestsPass: boolean | null;
  /** The test files that were added, changed or renamed. */
  testsChanged: string[];
  testsRemoved: string[];
  /** Why the change is not proved, as the end of a sentence; null when it is. */
  reason: string | null;
  /**
   * Whether earlier tests may have been weakened although nothing says so: the change decides itself how they run, or it is an undo
   * that changes more than it undoes.
   */
  isHindered?: boolean;
}

/** What is shown of a proof. */
export type Judged = Pick<Proof, 'status' | 'reason' | 'isHindered'>;

/** The branch with which a change was compared, and its head at that time. For another branch, a proof is void. */
export interface ProofBase {
  branch: string;
  commit: string;
  /** The commit from which the change differed; unknown for old proofs, and where it was not clear. */
  from?: string;
  /** A digest of the settings with which it was proved; unknown for old proofs. */
  rules?: string;
}

/** How the checks ended once. `why` says why they did not finish, so that their result is unknown. */
export type Attempt = { outcome: 'passed' | 'failed' } | { outcome: 'unfinished'; why: string };

/** Everything that decides about a proof. */
export interface Observed {
  testsChanged: string[];
  testsRemoved: string[];
  /** Why the change cannot be proved, whatever its checks say. */
  doubts: string[];
  /** Whether some of these are about how the earlier tests run. */
  isHindered: boolean;
  /** The checks on the base's code with the tests of the change, in the order in which they ran. */
  newTestsOnBase: Attempt[];
  /** The checks on the change itself, which had passed before. */
  newTestsOnChange: Attempt[];
  /** The checks on the code of the change with the tests of the base. */
  oldTestsOnChange: Attempt[];
  /** New programs that only the tests of the change use, and that took part in `newTestsOnBase`. */
  moved: string[];
  /** Why the earlier tests may check less than before; empty only where nothing of them was lost. */
  lost: string[];
  /** The earlier tests that fail with the change, or the files with changed expectations where tests have no names. */
  failing: string[];
}

/** How the checks end for a change that its tests prove. */
export const expectedOnBase = 'failed';
export const expectedOnChange = 'passed';

/** Returns whether checks have to run once more, because they did not finish or did not end as `expected`. */
export function needsAnother(attempts: Attempt[], expected: 'passed' | 'failed'): boolean {
  return attempts.length === 1 && attempts[0]?.outcome !== expected;
}

/** Decides what the checks say about a change. */
export function judgeProof(observed: Observed): Proof {
  const { testsChanged, testsRemoved, doubts, moved, lost, failing, ...checks } = observed;
  const onBase = settled(checks.newTestsOnBase, 'with the tests of this change on the code without it');
  const again = settled(checks.newTestsOnChange, 'when they ran again on this change');
  const onChange = settled(checks.oldTestsOnChange, 'with the earlier tests on this change');
  const judged = (status: ProofStatus, reasons: string[]): Proof => ({
    status,
    newTestsFailOnBase: onBase.passed === null ? null : !onBase.passed,
    oldTestsPass: onChange.passed,
    testsChanged,
    testsRemoved,
    reason: reasons.length === 0 ? null : reasons.join('; '),
  });
  if (testsChanged.length + testsRemoved.length === 0) return judged('no_tests', [noTests, ...doubts]);
  if (onChange.passed === false) {
    const isKept = testsRemoved.length + doubts.length + lost.length === 0 && failing.length > 0;
    if (isKept && onBase.passed === false && again.passed === true)
      return judged('changed', [`these earlier tests fail with it: ${namesOf(failing)}`]);
    return judged('weakened', ['the earlier tests fail with this change', ...(doubts.length > 0 ? doubts : lost)]);
  }
  const unknown = [...onBase.unknown, ...again.unknown, ...onChange.unknown];
  if (unknown.length > 0) return judged('not_run', [...unknown, ...doubts]);
  const vacuous = onBase.passed ? [`the tests of this change also pass without it${apartFrom(moved)}`] : [];
  const unstable = again.passed ? [] : ['the tests of this change failed when they ran again with it'];
  const reasons = [...vacuous, ...unstable, ...doubts];
  if (reasons.length === 0) return judged('proved', []);
  return { ...judged('unproved', reasons), ...(observed.isHindered ? { isHindered: true } : {}) };
}

/** Everything that decides about the proof of an undo. */
export interface ObservedUndo {
  /** The test files that the undone changes had touched. */
  testsChanged: string[];
  /** Whether there were tests before the undone changes. */
  hadTests: boolean;
  /** Why the tests may say less than before about what somebody changed besides. */
  doubts: string[];
  /** The checks on the undo with the tests from before, in the order in which they ran. */
  tried: Attempt[];
  /** The names of the tests that failed, where they have any. */
  failing: string[];
}

/** Decides whether the old behaviour is back: the tests from before the undone changes pass. */
export function judgeUndo({ testsChanged, hadTests, doubts, tried, failing }: ObservedUndo): Proof {
  const { passed, unknown } = settled(tried, 'with the tests from before the undone change');
  // Whatever else was changed is judged by no other tests.
  const isHindered = doubts.length > 0 || passed === false;
  const judged = (status: ProofStatus, reason: string): Proof => ({
    ...{ status, newTestsFailOnBase: null, oldTestsPass: passed, testsChanged, testsRemoved: [], reason },
    ...(isHindered ? { isHindered } : {}),
  });
  if (!hadTests) return judged('no_tests', 'there were no tests before the undone change');
  if (passed === null) return judged('not_run', unknown.join('; '));
  if (passed && doubts.length > 0) return judged('unproved', doubts.join('; '));
  if (passed) return judged('proved', undoneReason);
  const named = failing.length > 0 ? namesOf(failing) : namesOf(testsChanged);
  return judged('unproved', `the tests from before the undone change fail: ${named}`);
}

/** Says that files were changed besides what an undo undoes. */
export function besidesUndo(paths: string[]): string[] {
  if (paths.length === 0) return [];
  return [`${namesOf(paths)} ${paths.length === 1 ? 'was' : 'were'} changed besides what is undone`];
}

/** An undo is the only proved change with a reason. */
const undoneReason = 'the tests from before the undone change pass again';

function apartFrom(moved: string[]): string {
  return moved.length === 0 ? '' : `, apart from ${namesOf(moved)}, which only they use`;
}

/** The most files that a reason names. */
const maxNamed = 5;

/** Names files in a sentence, without control characters, and cut where names would fill the whole sentence. */
export function namesOf(paths: string[]): string {
  const named = paths.slice(0, maxNamed).map((path) => path.replace(/\p{Cc}/gu, '?').slice(0, 200));
  return [...named, ...(paths.length > maxNamed ? [`${paths.length - maxNamed} more`] : [])].join(', ');
}

const noTests = 'no test file was added, changed or removed';

/** Builds the proof of a change whose checks did not run for it. */
export function notRun(reason: string): Proof {
  return {
    status: 'not_run',
    newTestsFailOnBase: null,
    oldTestsPass: null,
    testsChanged: [],
    testsRemoved: [],
    reason,
  };
}

/** Returns what several attempts say together. Attempts that differ say nothing. */
function settled(attempts: Attempt[], where: string): { passed: boolean | null; unknown: string[] } {
  const [first, second] = attempts;
  if (first === undefined) return { passed: null, unknown: [`the checks did not run ${where}`] };
  if (second !== undefined && second.outcome !== first.outcome)
    return {
      passed: null,
      unknown: [`the checks ${where} had different results: ${said(first)}, then ${said(second)}`],
    };
  if (first.outcome === 'unfinished')
    return { passed: null, unknown: [`the checks ${where} did not finish: ${first.why}`] };
  return { passed: first.outcome === 'passed', unknown: [] };
}

function said(attempt: Attempt): string {
  return attempt.outcome === 'unfinished' ? `they did not finish (${attempt.why})` : `they ${attempt.outcome}`;
}

/** What proofs say, the worst first. */
export const worstFirst: ProofStatus[] = ['weakened', 'unproved', 'not_run', 'no_tests', 'changed', 'proved'];

/** Returns the worst of several proofs, for a task whose run changed several repositories. */
export function worstOf<P extends Proof>(proofs: P[]): P | undefined {
  return worstFirst.flatMap((status) => proofs.filter((proof) => proof.status === status))[0];
}

/** Describes a proof to people in one sentence. The reason may contain names of files, which models choose. */
export function proofSentence({ status, reason }: Judged): string {
  const because = `: ${reason ?? 'the reason is unknown'}.`;
  switch (status) {
    case 'proved':
      return reason === null
        ? 'Its tests fail without it, and the earlier tests pass with it.'
        : `The old behaviour is back${because}`;
    case 'changed':
      return `Expectations changed on purpose${because}`;
    case 'unproved':
      return `Not proved by its tests${because}`;
    case 'weakened':
      return `Tests were weakened${because}`;
    case 'no_tests':
      return `Not proved by tests${because}`;
    case 'not_run':
      return `The proof by tests did not run${because}`;
  }
}

const marks: Partial<Record<ProofStatus, string>> = { proved: '✅ ', changed: '🔁 ', weakened: '⚠️ ' };

/** Describes a proof on GitHub, where texts have emoji instead of icons. */
export function markedProof(proof: Judged): string {
  return `${marks[proof.status] ?? ''}${proofSentence(proof)}`;
}
