import type { EntityManager } from 'typeorm';
import { type PlanMode, planModeOf } from '../../domain/settings/plan-first.ts';
import type { Plan } from '../../domain/waiting.ts';
import { findApprovedPlan } from '../waiting/plan-store.ts';
import type { Work } from '../work.ts';
import { part } from './prompts/part.ts';

/** Whether a run still has to propose a plan, and the plan of its task that was approved last. */
export interface Planning {
  mode: PlanMode;
  approved: Plan | undefined;
}

export async function readPlanning(em: EntityManager, { run, task, settings }: Work): Promise<Planning> {
  const plan = await findApprovedPlan(em, task.id);
  const approved = plan && (plan.runId === run.id ? 'in this run' : 'before');
  const mode = planModeOf({ kind: run.kind, planFirst: task.planFirst, repository: settings.plan, approved });
  return { mode, approved: plan };
}

/** Writes the sections of an agent's first message that are about plans. */
export function planSections({ mode, approved }: Planning): string[] {
  if (mode !== 'never') return [part(mode === 'always' ? 'plan-always' : 'plan-large')];
  return approved === undefined ? [] : [`## The approved plan\nKeep to this plan.\n\n${approved.markdown}`];
}
