import type { EntityManager } from 'typeorm';
import { comparePairs, exactInterval, type Pair, type PairedComparison } from '../domain/lab/paired.ts';
import {
  countItems,
  listArms,
  listTrialRuns,
  type NamedArm,
  type Trial,
  type TrialResult,
  type TrialRun,
} from './trial-store.ts';

/** What one arm of a trial made of the items. */
export interface ArmView extends Omit<NamedArm, 'trialId' | 'arm' | 'systemPrompt'> {
  solved: number;
  /** How many items count. Those that ended with an error do not. */
  of: number;
  interval: [number, number] | null;
  /** Null when the price of the model is unknown. */
  costUsd: number | null;
  minutes: number;
  items: {
    itemId: string;
    title: string;
    result: TrialResult | null;
    reason: string | null;
    runId: string;
    taskId: string;
    costUsd: number | null;
  }[];
}

/** A trial as people see it. */
export interface TrialView extends Omit<Trial, 'budgetUsd' | 'agentId'>, ArmView {
  budget: { costUsd: number };
  /** How many items it may try. */
  planned: number;
  against?: (ArmView & Omit<PairedComparison, 'of'> & { pairs: number }) | undefined;
}

/** Returns trials with what their runs made of the items. */
export async function showTrials(em: EntityManager, trials: Trial[]): Promise<TrialView[]> {
  const ids = trials.map(({ id }) => id);
  if (ids.length === 0) return [];
  const arms = Map.groupBy(await listArms(em, ids), ({ trialId }) => trialId);
  const runs = Map.groupBy(await listTrialRuns(em, ids), ({ trialId }) => trialId);
  const counts = await countItems(em, ids);
  return trials.map((trial) =>
    viewOf(trial, {
      arms: arms.get(trial.id) ?? [],
      runs: runs.get(trial.id) ?? [],
      planned: counts.get(trial.id) ?? 0,
    }),
  );
}

interface Parts {
  arms: NamedArm[];
  runs: TrialRun[];
  planned: number;
}

function viewOf({ budgetUsd, ...trial }: Trial, { arms, runs, planned }: Parts): TrialView {
  const [ours, theirs] = arms;
  // The tables make sure that each trial has an arm.
  if (ours === undefined) throw new Error(`the trial ${trial.id} tries nothing`);
  const view: TrialView = { ...trial, budget: { costUsd: budgetUsd }, planned, ...armView(ours, runs) };
  if (theirs === undefined) return view;
  const compared = comparePairs(pairsOf(runs), { planned, isOver: trial.status === 'done' });
  return {
    ...view,
    against: { ...armView(theirs, runs), ...compared, of: armView(theirs, runs).of, pairs: compared.of },
  };
}

function armView({ arm, ...about }: NamedArm, all: TrialRun[]): ArmView {
  const runs = all.filter((run) => run.arm === arm);
  const counting = runs.filter(({ result }) => result === 'solved' || result === 'unsolved');
  const solved = counting.filter(({ result }) => result === 'solved').length;
  return {
    agentId: about.agentId,
    name: about.name,
    isCurrent: about.isCurrent,
    version: about.version,
    model: about.model,
    promptHash: about.promptHash,
    solved,
    of: counting.length,
    interval: counting.length === 0 ? null : exactInterval({ successes: solved, trials: counting.length }),
    costUsd: costOfRuns(runs),
    minutes: runs.reduce((sum, { minutes }) => sum + minutes, 0),
    items: runs.map(({ itemId, title, result, reason, runId, taskId, costUsd }) => ({
      ...{ itemId, title, result, reason, runId, taskId, costUsd },
    })),
  };
}

/** Adds up what runs cost so far; null when the price of the model is unknown. A run that asked nothing yet cost nothing. */
export function costOfRuns(runs: Pick<TrialRun, 'costUsd' | 'result'>[]): number | null {
  const known = runs.filter(({ costUsd }) => costUsd !== null);
  if (known.length === 0 && runs.some(({ result }) => result === 'solved' || result === 'unsolved')) return null;
  return known.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
}

/** Returns the items that both arms have tried, in their order. */
export function pairsOf(runs: Pick<TrialRun, 'place' | 'arm' | 'result'>[]): Pair[] {
  const places = Map.groupBy(runs, ({ place }) => place);
  const inOrder = [...places].sort(([a], [b]) => a - b);
  return inOrder.flatMap(([, both]) => {
    const [ours, theirs] = [0, 1].map((arm) => both.find((run) => run.arm === arm)?.result);
    const isKnown = [ours, theirs].every((result) => result === 'solved' || result === 'unsolved');
    return isKnown ? [{ ours: ours === 'solved', theirs: theirs === 'solved' }] : [];
  });
}
