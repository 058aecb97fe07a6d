import { Unverified } from './envelope.ts';

/** The format of a statement about an artifact (github.com/in-toto/attestation, Statement v1). */
const statementType = 'https://in-toto.io/Statement/v1';
/** What our statements say about it. docs/receipts.md describes the fields. */
const predicateType = 'urn:deckhand:receipt:v1';

/** The commit and the tree that a receipt is about. */
export interface Subject {
  /** The address of the repository. */
  repository: string;
  commit: string;
  tree: string;
}

/** How a commit came about, and what is known about it. */
export interface Receipt {
  pullRequest: string;
  branch: string;
  baseBranch: string;
  service: { version: string; address: string };
  task: string;
  run: { id: string; kind: string; startedAt: string | null; signedAt: string };
  agent: { name: string; version: number; promptSha256: string };
  model: string;
  /** `key` identifies the lock files, commands and image of set-up; `how` says whether this run made it. */
  environment: { key: string; how: string };
  /** Hosts that commands of set-up, of the agent and of the checks connected to during the run. */
  hosts: string[];
  checks: { command: string; passed: boolean; seconds: number }[];
  /** What the tests prove; null if nothing is known. */
  proof: ReceiptProof | null;
  approvals: { what: string; by: string | null; at: string }[];
}

export interface ReceiptProof {
  status: string;
  newTestsFailOnBase: boolean | null;
  oldTestsPass: boolean | null;
  reason: string | null;
  /** The commit with which the change was compared. */
  baseCommit: string | null;
}

/** Builds the statement to sign. */
export function statementOf({ repository, commit, tree }: Subject, receipt: Receipt): object {
  return {
    _type: statementType,
    subject: [
      { name: `git+${repository}`, digest: { gitCommit: commit } },
      { name: `git+${repository}#tree`, digest: { gitTree: tree } },
    ],
    predicateType,
    predicate: receipt,
  };
}

/** What a verified statement says. */
export interface Stated extends Subject {
  receipt: Receipt;
}

interface Shape {
  _type: unknown;
  predicateType: unknown;
  subject: { name: string; digest: { gitCommit?: string; gitTree?: string } }[];
  predicate: Receipt;
}

/** Reads a statement whose signature was verified. @throws Unverified if it is another statement than ours */
export function readStatement(value: unknown): Stated {
  const { _type, predicateType: type, subject, predicate } = (value ?? {}) as Partial<Shape>;
  if (_type !== statementType || type !== predicateType)
    throw new Unverified(`The signed text is no receipt of Deckhand that this version knows (${predicateType}).`);
  const digests = Array.isArray(subject) ? subject : [];
  const commits = digests.flatMap(({ name, digest }) => (digest?.gitCommit ? [{ name, id: digest.gitCommit }] : []));
  const trees = digests.flatMap(({ digest }) => (digest?.gitTree ? [digest.gitTree] : []));
  const [commit, tree] = [commits[0], trees[0]];
  if (commit === undefined || tree === undefined || commits.length + trees.length > 2 || !isReceipt(predicate))
    throw new Unverified('The signed text is no complete receipt.');
  return { repository: commit.name.replace(/^git\+/, ''), commit: commit.id, tree, receipt: predicate };
}

function isReceipt(value: Receipt | undefined): value is Receipt {
  const { pullRequest, run, agent, service, checks, hosts, approvals } = (value ?? {}) as Partial<Receipt>;
  const texts = [pullRequest, run?.id, run?.signedAt, agent?.name, service?.version, service?.address];
  return texts.every((text) => typeof text === 'string') && [checks, hosts, approvals].every(Array.isArray);
}

/** Says in plain words what a receipt states, a line for each fact. */
export function factsOf({ commit, tree, receipt }: Stated): string[] {
  const { run, agent, model, service, environment, checks, hosts, approvals, proof } = receipt;
  const each = <T>(list: T[], none: string, say: (item: T) => string) =>
    list.length === 0 ? none : list.map(say).join('; ');
  return [
    `Pull request: ${receipt.pullRequest}, from ${receipt.branch} into ${receipt.baseBranch}`,
    `Commit: ${commit} with the tree ${tree}`,
    `Made by: ${agent.name}, version ${agent.version}, with the model ${model} and the prompt ${agent.promptSha256.slice(0, 12)}`,
    `Run: ${run.id} of ${receipt.task}, signed ${run.signedAt} by Deckhand ${service.version} at ${service.address}`,
    `Environment: ${environment.key} (${environment.how})`,
    `Hosts reached by commands: ${each(hosts, 'none', (host) => host)}`,
    `Checks: ${each(checks, 'none', ({ command, passed }) => `${command} ${passed ? 'passed' : 'failed'}`)}`,
    `Proof: ${proofText(proof)}`,
    `Approved: ${each(approvals, 'nothing needed a person before the push', ({ what, by, at }) => `${what} by ${by ?? 'a deleted account'}, ${at}`)}`,
  ];
}

function proofText(proof: ReceiptProof | null): string {
  if (proof === null) return 'nothing is known';
  const base = proof.baseCommit === null ? '' : `, compared with ${proof.baseCommit.slice(0, 12)}`;
  return `${proof.status}${proof.reason === null ? '' : ` (${proof.reason})`}${base}`;
}
