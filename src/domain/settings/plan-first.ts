import type { RunKind } from '../run.ts';

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
  const isAsked = kind === 'start' ? approved !== 'in this run' : isLater(kind) && approved === undefined;
  if (!isAsked) return 'never';
  if (planFirst === null) return repository;
  return planFirst ? 'always' : 'never';
}

function isLater(kind: RunKind): boolean {
  return kind === 'retry' || kind === 'rewind';
}
