import type { App } from '../../app.ts';
import type { Ending, JudgedEnding } from '../../conversation/ending.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { listUndone } from '../../runs/undoing/store.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import { type Judging, judgeEnding } from '../judge.ts';
import { isProvedBefore } from '../proof/publish-proof.ts';
import { isSetupApproved } from '../waits.ts';
import { allWorks, type Work } from '../work.ts';
import type { OpenRepositories } from '../workspace/open-repositories.ts';

/** The step that holds why a model has to go on with an undo. */
const handedOverStep = 'undo handed over';

/** Opens all repositories in which a task reverts something. Nothing is opened for other tasks. */
export async function openUndone(app: App, work: Work, repositories: OpenRepositories): Promise<void> {
  const undone = await listUndone(app.db.manager, work.task.id);
  if (undone.length === 0) return;
  await repositories.openAll([...new Set(undone.map(({ repositoryId }) => repositoryId))]);
  for (const each of allWorks(work)) await noteReverts(each);
}

async function noteReverts({ branch, journal, repository }: Work): Promise<void> {
  if (branch.reverts === undefined) return;
  const { pulls, conflicts } = branch.reverts;
  const said = conflicts.length === 0 ? 'without conflicts' : `with conflicts in ${conflicts.length} files`;
  await journal.note('loop', `reverts ${pulls.map(({ url }) => url).join(', ')} in ${repository.name}, ${said}`);
}

/** What is known about a run before its conversation begins. */
interface Begun {
  run: Pick<RunRow, 'kind' | 'instructions'>;
  host: Pick<ToolHost, 'endProcesses'>;
  /** Whether an agent has worked in it, or left its work to it. */
  hasWork: boolean;
}

/**
 * Ends an undo without a model: the reverts are judged, checked and proved as a change of an agent is. Returns undefined for any
 * other run, and where a model has to go on: reverts conflict, the checks fail with them, or a person wants something else.
 */
export async function undoAlone(app: App, work: Work, begun: Begun): Promise<JudgedEnding | undefined> {
  const { journal, run } = work;
  const isUndo = allWorks(work).some(({ reverts }) => reverts !== undefined);
  const isAlone = ['start', 'retry'].includes(begun.run.kind) && begun.run.instructions === '' && !begun.hasWork;
  if (!isUndo || !isAlone || (await journal.recall(handedOverStep)) !== undefined) return undefined;
  if (allWorks(work).some(({ branch }) => (branch.reverts?.conflicts.length ?? 0) > 0)) return undefined;
  await begun.host.endProcesses();
  const ending = endingOf(work);
  const isApproved: Judging['isSetupApproved'] = (change) => isSetupApproved(app, work, change);
  const judging = {
    mode: work.planning?.mode ?? 'never',
    messages: [],
    isUnattended: true,
    isSetupApproved: isApproved,
    isProved: (of: Work, tree: string) => isProvedBefore(app, of, tree),
  };
  const judgement = await judgeEnding(work, ending, judging);
  if (judgement.accepted) return { ...ending, ...judgement.evidence };
  const reason = 'objection' in judgement ? judgement.objection : 'Set-up of the reverts needs the word of a person.';
  await journal.once(handedOverStep, async () => ({ reason }));
  await journal.note('loop', `an agent goes on with the reverts, run ${run.id}: ${oneLine(reason, 300)}`);
  return undefined;
}

/** Every repository says in its own pull request what is reverted there. */
function endingOf({ task }: Work): Ending {
  const summary = 'Reverts what was merged.';
  return { finish: { title: task.title, summary, nextSteps: [] } };
}

/** Writes the section of an agent's first message that is about reverts. */
export async function undoSections(work: Work): Promise<string[]> {
  const works = allWorks(work).filter(({ branch }) => branch.reverts !== undefined);
  if (works.length === 0) return [];
  const handed = await work.journal.recall<{ reason: string }>(handedOverStep);
  const lines = works.flatMap((each) => linesOf(work, each));
  return [
    [
      '## Reverts',
      'The files have these reverts already; do not revert anything again:',
      lines.join('\n'),
      'Where there are conflicts, the files hold git\'s conflict markers: the part from "now" is what the branch says today, the other part is what was there before the reverted change. Bring back the old behaviour, and keep what others changed since then. Change nothing else. Then call finish.',
      ...(handed === undefined ? [] : [handed.reason]),
    ].join('\n\n'),
  ];
}

function linesOf(work: Work, each: Work): string[] {
  const folder = each === work ? '' : `../${each.repository.name}/`;
  const { pulls, conflicts } = each.branch.reverts ?? { pulls: [], conflicts: [] };
  const named = conflicts.slice(0, 50).map((path) => `${folder}${path.replace(/\p{Cc}/gu, '?')}`);
  const rest = conflicts.length > named.length ? ` and ${conflicts.length - named.length} more` : '';
  return [
    `- ${pulls.map(({ url }) => url).join(', ')}${named.length === 0 ? '' : `, with conflicts in ${named.join(', ')}${rest}`}`,
  ];
}
