import { UnfitWorkTree } from '../../git/work-tree/unfit-work-tree.ts';
import type { Message } from '../../llm/model.ts';
import { changesOf, readOnce, type TreeOf } from '../outgoing/changes.ts';
import { objections } from '../outgoing/objection.ts';
import { type CheckResult, checkText, failed, runChecks } from '../publish/verify.ts';
import { allWorks, type Work } from '../work.ts';
import type { Ending, Judgement } from './ending.ts';

/** The model gets to correct a refused change once, and failing checks three times. */
const maxRefusals = 1;
const maxCheckRounds = 3;
const refusedText = 'The change was refused before the push.';

/**
 * Judges an ending: first whether the host would push the change, then by the checks of each changed repository. After
 * a few objections it accepts the ending anyway, and the run fails later. Earlier objections are counted in the
 * conversation, so a worker that takes over does not start from zero.
 */
export async function judgeEnding(work: Work, ending: Ending, messages: Message[]): Promise<Judgement> {
  const treeOf = readOnce();
  const found = await objections(work, treeOf).catch(asObjection);
  if (found !== undefined) {
    if (timesSaid(messages, refusedText) >= maxRefusals) return { accepted: true, evidence: {} };
    return { accepted: false, objection: `${refusedText} Fix this and call finish again:\n${found}` };
  }
  if (ending.subtasks !== undefined) return { accepted: true, evidence: { treeOf } };
  const checks = await checkAll(work, treeOf);
  const failing = failed(checks);
  if (failing !== undefined && timesSaid(messages, 'The checks failed.') < maxCheckRounds)
    return { accepted: false, objection: checkText(failing) };
  return { accepted: true, evidence: { treeOf, checks } };
}

function timesSaid(messages: Message[], opening: string): number {
  return messages.filter((m) => m.role === 'user' && m.content.startsWith(opening)).length;
}

/** Runs the checks of each changed repository and stops at the first repository that fails. */
async function checkAll(work: Work, treeOf: TreeOf): Promise<CheckResult[]> {
  const checks: CheckResult[] = [];
  for (const each of allWorks(work)) {
    if ((await changesOf(each, treeOf)).length === 0) continue;
    const results = await runChecks(each.settings, each.host, each.checkout, work.journal.note);
    checks.push(...results.map((result) => ({ ...result, repositoryId: each.repository.id })));
    if (failed(results) !== undefined) break;
  }
  return checks;
}

/**
 * Turns the error for a work tree that cannot be pushed into an objection, so that the model can fix the work tree.
 * Throws all other errors again.
 */
function asObjection(error: unknown): string {
  if (error instanceof UnfitWorkTree) return `- ${error.message}`;
  throw error;
}
