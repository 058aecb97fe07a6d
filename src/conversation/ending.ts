import type { Proof, ProofBase } from '../domain/proof/proof.ts';
import { type Failure, failure } from '../domain/run.ts';
import type { NewWait } from '../domain/waiting.ts';
import type { ModelFailed } from '../llm/model.ts';
import type { DecidingSettings } from '../repositories/settings/repository-settings.ts';
import type { StoredDiff } from '../tasks/work-store.ts';
import type { ReviewArguments } from './reviewing/review-call.ts';
import type { FinishArguments, NewSubtask } from './tools/tool.ts';

/** Thrown inside a run that waits from now on, so that its worker leaves it. Everything that the run needs is stored. */
export class Parked extends Error {
  constructor() {
    super('the run waits');
    this.name = 'Parked';
  }
}

/** Thrown inside a run whose model asks it to wait. */
export class ModelUnavailable extends Error {
  readonly retryAfterMs: number | undefined;
  /** What the run fails with when it may not wait any longer. */
  readonly failure: Failure;

  constructor({ fault, message, retryAfterMs }: ModelFailed) {
    super(message);
    this.name = 'ModelUnavailable';
    this.retryAfterMs = retryAfterMs;
    this.failure = failure(fault === 'rate_limit' ? 'rate_limit' : 'model', message);
  }
}

/** How the agent wants to end its conversation. */
export interface Ending {
  finish: FinishArguments;
  /** Set when the agent split the task instead of finishing it. */
  subtasks?: NewSubtask[];
  /** Set when the agent reviewed a pull request. */
  review?: ReviewArguments;
}

/** An ending that the service accepted, as the journal stores it. */
export type JudgedEnding = Ending & Evidence;

/** What the service learned while it judged an ending that it accepted. */
export interface Evidence {
  /** The files that were judged. Exactly these are pushed, and all evidence is about them. */
  trees: Trees;
  /** Why the files could not be read; then there are no trees. */
  unfit?: string;
  /** The results of the repositories' own checks. */
  checks?: CheckResult[];
  /** What their tests prove, by repository. */
  proofs?: RepositoryProof[];
}

/** What the tests of one changed repository prove. */
export interface RepositoryProof {
  repositoryId: string;
  /** The tree that was tested. */
  tree: string;
  /** The settings with which it was tested; missing in endings of older versions. */
  settings?: DecidingSettings;
  /** The base with which it was compared; missing in endings of older versions, which are void. */
  base?: ProofBase;
  proof: Proof;
}

/** The service's decision about an ending. Either it is accepted, or the model has to continue because of `objection`. */
export type Judgement =
  | { accepted: false; objection: string }
  | { accepted: true; evidence: Evidence }
  | WaitingJudgement;

/** The judgement of these files goes on when a person has allowed their set-up to use the network of set-up. */
export interface WaitingJudgement {
  accepted: false;
  wait: HeldWait;
  trees: Trees;
}

/** Longer summaries are cut: later runs see the whole summary, and a pull request has room for 65,536 characters. */
const maxSummary = 10_000;
const maxSteps = 20;
const maxStepChars = 500;

/** Builds the ending for a call of `finish`. Cuts its strings to the lengths that are stored. */
export function finishedWith(finish: FinishArguments): Ending {
  const nextSteps = finish.nextSteps.slice(0, maxSteps).map((step) => step.slice(0, maxStepChars));
  return { finish: { ...finish, summary: cutText(finish.summary), nextSteps } };
}

/** Builds the ending for a call of `create_subtasks`. */
export function splitInto(subtasks: NewSubtask[]): Ending {
  const nextSteps = subtasks.map((s) => s.title);
  return { finish: { summary: `Split into ${subtasks.length} subtasks.`, nextSteps }, subtasks };
}

/** Cuts a model's summary or reason to the length that is stored. */
export function cutText(text: string): string {
  if (text.length <= maxSummary) return text;
  return `${text.slice(0, maxSummary)}\n[… ${text.length - maxSummary} characters cut …]`;
}

/** The git trees of a run's files, by the id of their repository. */
export type Trees = Record<string, string>;

/** The result of one of the repository's check commands. */
export interface CheckResult {
  repositoryId: string;
  /** The tree that was checked. */
  tree: string;
  command: string;
  passed: boolean;
  seconds: number;
  /** The end of the command's output; empty when it passed. */
  output: string;
}

/** Exactly what a person approves. An approval counts for nothing else. */
export interface Approvable {
  /** `push`: the change is pushed. `setup`: set-up of the change may use the network of set-up. */
  purpose: 'push' | 'setup';
  trees: Trees;
  /** The commits that the change follows, by the id of their repository. */
  parents: Record<string, string[]>;
  /** What was found in the change that only a person may allow, one line each. */
  findings: string[];
  /** The changed expectations that the person is shown, each named by `expectationsOf`. */
  expectations: string[];
}

/** A wait for the approval of a change, with what people see of the change. */
export interface HeldWait extends NewWait {
  held: { wanted: Approvable; diff: StoredDiff };
}
