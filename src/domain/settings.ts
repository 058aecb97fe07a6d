import type { RunKind } from './run.ts';

/** A branch name that git allows (git check-ref-format), without control characters and a leading dash or dot. */
export const branchPattern = /^(?!.*(\.\.|\/\/|@\{|\/\.|\.lock(\/|$)))[A-Za-z0-9_][^\s\p{Cc}~^:?*[\\]*(?<![./])$/u;

/** The port on the 127.0.0.1 of commands where the egress proxy accepts connections. No service can have it. */
export const egressPort = 3128;

/** The name of an environment secret, which is also the name of the variable that set-up gets. */
export const secretName = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Variables that the sandbox sets. A repository that changed them would lose the proxy, its home folder or its user. */
const taken = new Set([
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'NODE_USE_ENV_PROXY'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
]);

/** Returns whether the sandbox sets this variable, so that neither `env` nor a secret may have its name. */
export function isTakenVariable(name: string): boolean {
  return taken.has(name.toUpperCase());
}

/** When an agent proposes a plan before it changes anything; `large` leaves small changes to the agent. */
export const planModes = ['never', 'always', 'large'] as const;
export type PlanMode = (typeof planModes)[number];

/** A change of more files needs an approved plan where plans are asked for. */
export const maxUnplannedFiles = 5;

/** Decides whether a run still has to propose a plan. */
export function planModeOf(about: {
  /** The kind of the run. For a rewound run, the kind of the run that it goes back to, if known. */
  kind: RunKind;
  /** The setting of the task; null for that of the repository. */
  planFirst: boolean | null;
  repository: PlanMode;
  /** Whether a plan was approved: in this run, or in an earlier run of the task. */
  approved: 'in this run' | 'before' | undefined;
}): PlanMode {
  const { kind, planFirst, repository, approved } = about;
  if (approved === 'in this run' || (approved === 'before' && kind !== 'start')) return 'never';
  const asked = planFirst === null ? repository : planFirst ? 'always' : 'never';
  if (kind === 'start' || kind === 'retry' || kind === 'rewind') return asked;
  // These carry out what people asked for before. A large change needs a plan all the same.
  const isLarge = repository === 'large' && planFirst !== false;
  return isLarge && (kind === 'revise' || kind === 'continue') ? 'large' : 'never';
}

/** Whether a change is pushed at once, or after a person approved it. */
export const pushModes = ['free', 'approved'] as const;
export type PushMode = (typeof pushModes)[number];

/** Which pull requests of people and other bots are reviewed. */
export const reviewModes = ['asked', 'everyone', 'off'] as const;
export type ReviewMode = (typeof reviewModes)[number];

/** Whose pull requests are proved besides those of our tasks, and how many minutes that may take a day. */
export interface ProveSettings {
  /** `required`: weakened tests make the check run fail. */
  everyone: boolean | 'required';
  minutesPerDay: number;
}

export const noProving: ProveSettings = { everyone: false, minutesPerDay: 60 };

/** Who may approve the plan and the push of a run, and merge its work through the service. */
export const approvers = ['anyone', 'others'] as const;
export type Approvers = (typeof approvers)[number];

/** How a pull request is merged, in the order in which the methods are tried where the repository names none. */
export const mergeMethods = ['squash', 'merge', 'rebase'] as const;
export type MergeMethod = (typeof mergeMethods)[number];

/** How long a model reasons before it answers, from least to most. A model may support only some of them. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** Limits for the answers of an agent's model, in tokens. */
export const leastOutputTokens = 256;
export const mostOutputTokens = 200_000;

/**
 * How set-up of a change uses the network. `packages`: package managers fetch with the network of set-up, and nothing else
 * has it until a person approves. `approved`: a person always approves first. `closed`: nothing has it.
 */
export const setupsOfChange = ['packages', 'approved', 'closed'] as const;
export type SetupOfChange = (typeof setupsOfChange)[number];

/** The visibility of a repository. A disconnected repository counts as private if it was private when it was read. */
interface Visibility {
  isPrivate: boolean;
}

/**
 * Returns whether text shown in the repository `shownIn` may name `repository`, its pull requests and its issues. A
 * private repository may be named only in private ones.
 */
export function mayName(repository: Visibility, shownIn: Visibility): boolean {
  return !repository.isPrivate || shownIn.isPrivate;
}

/**
 * Returns whether what a model or an agent read in `source` may appear in `shownIn`. Everybody can read a public
 * repository, so private content may appear there only if the project allows it.
 */
export function mayReveal(source: Visibility, shownIn: Visibility, project: { sharePrivateContext: boolean }): boolean {
  return project.sharePrivateContext || mayName(source, shownIn);
}

/** Returns whether a text is a label of a worker, in lower case. */
export function isLabel(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,49}$/.test(text);
}
