import type { EntityManager } from 'typeorm';
import { type PlanMode, planModeOf } from '../../domain/settings/plan-first.ts';
import type { Plan } from '../../domain/waiting.ts';
import { findOrigin } from '../continuing/origin-store.ts';
import { findApprovedPlan } from '../waiting/plan-store.ts';
import type { Work } from '../work.ts';
import { part } from './prompts/part.ts';

/** What a run knows of plans: whether it still has to propose one, and the plan of its task that was approved last. */
export interface Planning {
  mode: PlanMode;
  approved: Plan | undefined;
}

/**
 * Reads what a run knows of plans. A rewound run knows what the earlier run knew after the turn that it goes back to.
 */
export async function readPlanning(em: EntityManager, { run, task, settings }: Work): Promise<Planning> {
  const { runIds, kind, until } = await findOrigin(em, run);
  const plan = await findApprovedPlan(em, task.id, { runId: run.id, until });
  const approved = plan && (runIds.includes(plan.runId) ? 'in this run' : 'before');
  const mode = planModeOf({ kind, planFirst: task.planFirst, repository: settings.plan, approved });
  return { mode, approved: plan };
}

/** Writes the sections of an agent's first message that are about plans. */
export function planSections({ mode, approved }: Planning): string[] {
  if (mode !== 'never') return [part(mode === 'always' ? 'plan-always' : 'plan-large')];
  return approved === undefined ? [] : [`## The approved plan\nKeep to this plan.\n\n${approved.markdown}`];
}
