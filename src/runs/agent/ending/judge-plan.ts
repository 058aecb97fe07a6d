import { maxUnplannedFiles, type PlanMode } from '../../../domain/settings/plan-first.ts';
import type { Message } from '../../../llm/model.ts';
import { ownChangesOf, type TreeOf } from '../../outgoing/changes.ts';
import { allWorks, type Work } from '../../work.ts';
import { exchangesOf } from '../context/exchanges.ts';
import type { Ending } from './ending.ts';

const needsPlan = 'This task needs a plan that a person approved. Call propose_plan';
const isLarge = `More than ${maxUnplannedFiles} files change, so a person approves a plan first. Call propose_plan`;

/**
 * Returns why a run may not end without a plan; undefined when it may. A run without changes gets one reminder that a plan
 * is expected, and may then finish.
 */
export async function planObjection(
  work: Work,
  mode: PlanMode,
  ending: Ending,
  { messages, treeOf }: { messages: Message[]; treeOf: TreeOf },
): Promise<string | undefined> {
  if (mode === 'never') return undefined;
  const count = await countChanges(work, treeOf);
  if (mode === 'large') return count > maxUnplannedFiles ? `${isLarge}, for the whole change.` : undefined;
  if (count > 0 || ending.subtasks !== undefined)
    return `${needsPlan}. What commands wrote is discarded when the plan is approved.`;
  const isTold = exchangesOf(messages).some(({ remarks }) => remarks.some((text) => text.startsWith(needsPlan)));
  return isTold ? undefined : `${needsPlan}, or call finish again if nothing has to change.`;
}

async function countChanges(work: Work, treeOf: TreeOf): Promise<number> {
  let count = 0;
  for (const each of allWorks(work)) count += (await ownChangesOf(each, treeOf)).length;
  return count;
}
