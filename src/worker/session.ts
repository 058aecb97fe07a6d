import { isDeepStrictEqual } from 'node:util';
import type { App } from '../app.ts';
import { type Briefing, openBriefing, openBriefingAlone, withImages } from '../conversation/briefing/briefing.ts';
import { readInstructions, withNestedInstructions } from '../conversation/briefing/instructions.ts';
import { withSkills } from '../conversation/briefing/skills.ts';
import type { JudgedEnding, Trees } from '../conversation/ending.ts';
import { askForHandoff } from '../conversation/handoff.ts';
import { converse, type LoopContext } from '../conversation/loop.ts';
import { type Memory, newMemory } from '../conversation/memory.ts';
import { openingMessages } from '../conversation/prompts.ts';
import { endedNotice, tellingOfLostProcesses } from '../conversation/tools/command-tools.ts';
import { type FinishArguments, maxNewSubtasks } from '../conversation/tools/tool.ts';
import type { RunRow } from '../db/tables/run.ts';
import { exhaustedPersonDay, type Spent } from '../domain/budget.ts';
import { RunFailed, traitsOf } from '../domain/run.ts';
import { withoutSecrets } from '../domain/secrets.ts';
import { maxSubtasks } from '../domain/task.ts';
import { storable } from '../domain/text/sanitize.ts';
import { addRefused, refusedText } from '../environment/command-access.ts';
import type { Message } from '../llm/model.ts';
import { openable } from '../repositories/rights.ts';
import { admitUsers, directorsOf, listOpenedOfTasks, sourcesOfText } from '../runs/directors.ts';
import { deleteStep, endingStep, type Journal } from '../runs/journal.ts';
import { openLiveText } from '../runs/live-text.ts';
import { draftAnswer, hasComments } from '../runs/review/store.ts';
import { readFigures } from '../runs/store.ts';
import { listTurns } from '../runs/taking-up/turn-store.ts';
import type { ToolHost } from '../sandbox/sandbox.ts';
import { countSubtasks, type TaskView } from '../tasks/store.ts';
import { listHandoffs, listRelatedHandoffs } from '../tasks/work-store.ts';
import { type Judging, judgeEnding } from './judge.ts';
import { readTrees } from './leaving/changes.ts';
import { planSections, readPlanning } from './plan.ts';
import { isProvedBefore } from './proof/publish-proof.ts';
import { tellOfTakeUp } from './take-up.ts';
import { findContext, insertContext, openTurns, updateContext } from './turns.ts';
import { openUndone, undoAlone, undoSections } from './undo/undo.ts';
import { isSetupApproved, openMessageInbox } from './waits.ts';
import { type Assignment, allWorks, type Limited, type Work } from './work.ts';
import {
  combineRepositories,
  type MayRead,
  type OpenRepositories,
  readingRights,
} from './workspace/open-repositories.ts';
import { packFiles } from './workspace/pack-files.ts';
import { findStoredFiles, unpackFiles } from './workspace/stored-files.ts';
import { findKeptWork, type KeptWork, keptSections, type Signals } from './workspace/workspace.ts';

/**
 * Lets the agent work in the workspace until the conversation ends. If an earlier worker began the conversation,
 * restores its turns and its file changes first.
 */
export async function workInside(app: App, given: Limited, work: Work, signals: Signals): Promise<JudgedEnding> {
  const { checkout, journal, baseHead } = work;
  const stored = await listTurns(app.db.manager, given.run.id);
  const instructed = withSkills(withNestedInstructions(work.host, checkout, baseHead), checkout, baseHead);
  const repositories = combineRepositories(app, given, work, instructed, signals);
  let briefing: Briefing | undefined;
  try {
    await repositories.reopen();
    await openUndone(app, work, repositories);
    const left = await restoreFiles(app, work, repositories);
    const mayRead = readingRights(app, work);
    work.planning = await readPlanning(app.db.manager, work, mayRead);
    const known = await recallEnding(work);
    if (known !== undefined) return endedWith(work, known);
    const hasWork = stored.length > 0 || left !== undefined;
    const undone = await undoAlone(app, work, { run: given.run, host: repositories.host, hasWork });
    if (undone !== undefined) return endedWith(work, await journal.once(endingStep, async () => undone));
    briefing = isAlone(work) ? await openBriefingAlone(work) : await openBriefing(app, work, signals.tools);
    const sections = [
      keptSections(left),
      await undoSections(work),
      planSections(work.planning),
      briefing.sections,
    ].flat();
    const { opening, memory } = await beginning(app, given, work, repositories.host, { sections, left, mayRead });
    const turns = await tellOfTakeUp(app, work, stored, { repositories, signal: signals.tools });
    const { name } = given.agent;
    await journal.note('loop', turns.length > 0 ? `${name} continues after turn ${turns.length}` : `${name} begins`);
    const messages = [...withImages(opening, briefing.images), ...turns.flatMap((t) => t.messages)];
    const context = loopContext(app, given, work, { repositories, signals, memory, turnsBefore: turns.length });
    context.host = tellingOfLostProcesses(context.host, messages);
    context.offered.mcp = briefing.mcp;
    context.offered.maySplit &&= (await countSubtasks(app.db.manager, work.task.id)) + maxNewSubtasks <= maxSubtasks;
    context.offered.comments = await hasComments(app.db.manager, work.run.id);
    work.handoff = (failure) => askOnce(journal, () => askForHandoff(context, messages, failure, work.signal));
    const ending = await converse(context, messages);
    return endedWith(work, await journal.once(endingStep, async () => ending));
  } finally {
    await noteRefused(work);
    await briefing?.mcp.close();
    await repositories.host.close();
  }
}

/** Whether a run reaches neither people nor other repositories, because it only tries something. */
function isAlone({ run }: { run: Pick<RunRow, 'kind'> }): boolean {
  return traitsOf[run.kind].isAlone;
}

/**
 * Restores the files as they were after the last stored turn, of this run or of the one whose conversation it continues.
 * If there are none, restores the work that an earlier run left, and returns it.
 */
async function restoreFiles(
  app: App,
  { run, branch, repository }: Work,
  repositories: OpenRepositories,
): Promise<KeptWork | undefined> {
  const em = app.db.manager;
  const own = await findStoredFiles(em, run.id);
  const left = own.length === 0 && branch.keepsWork ? await findKeptWork(em, run, repository.id) : undefined;
  const packs = left?.files ?? own;
  if (packs.length > 0) await repositories.restore(await unpackFiles(packs));
  return left;
}

/** Says at the end of the log which hosts the run could not reach. */
async function noteRefused(work: Work): Promise<void> {
  const text = refusedText(addRefused(...allWorks(work).map((each) => each.refused())));
  // The log may be closed to this worker. How the run ended matters more.
  if (text !== undefined) await work.journal.note('network', text).catch(() => {});
}

/** Records the request before it is sent, so that a worker that takes over does not send it again. */
async function askOnce<T>(journal: Journal, ask: () => Promise<T>): Promise<T | undefined> {
  const step = 'handoff asked';
  if ((await journal.recall(step)) !== undefined) return undefined;
  await journal.once(step, async () => ({}));
  return ask();
}

/**
 * Returns the ending that an earlier worker stored, if the files of this worker are those that were judged.
 * @throws RunFailed `internal` when they are not
 */
async function recallEnding(work: Work): Promise<JudgedEnding | undefined> {
  const known = await work.journal.recall<Partial<JudgedEnding> & Pick<JudgedEnding, 'finish'>>(endingStep);
  if (known === undefined) return undefined;
  const { trees, ...ending } = { ...known, finish: renamed(known.finish) };
  if (trees === undefined) {
    // An older version did not store what it judged. The agent has to finish once more.
    await work.journal.write((em) => deleteStep(em, work.run.id, endingStep));
    return undefined;
  }
  if (ending.unfit === undefined && !isDeepStrictEqual(await readTrees(work), trees))
    throw new RunFailed('internal', 'the files of the run were not restored as they were judged; retry the task');
  return { ...ending, trees };
}

/** Earlier versions stored the title and the body of a pull request under other names. */
function renamed(finish: FinishArguments & { prTitle?: string; prBody?: string }): FinishArguments {
  const { prTitle, prBody, ...others } = finish;
  return {
    ...(prTitle === undefined ? {} : { title: prTitle }),
    ...(prBody === undefined ? {} : { body: prBody }),
    ...others,
  };
}

/** From now on the handoff is what the agent wrote at its ending, however the run ends. */
function endedWith(work: Work, ending: JudgedEnding): JudgedEnding {
  work.handoff = async () => ending.finish;
  return ending;
}

/**
 * Returns the first messages of the conversation and what it has learned about its prompts. Both are stored, so that the
 * prompts of a worker that takes over have the same beginning.
 */
async function beginning(
  app: App,
  given: Assignment,
  work: Work,
  host: ToolHost,
  { sections, left, mayRead }: { sections: string[]; left: KeptWork | undefined; mayRead: MayRead },
): Promise<{ opening: Message[]; memory: Memory }> {
  const { journal } = work;
  const runId = given.run.id;
  const memory = newMemory();
  memory.keep = (learned) => journal.write((em) => updateContext(em, runId, learned));
  const stored = await findContext(app.db.manager, runId);
  if (stored !== undefined)
    return { opening: stored.opening, memory: { ...memory, cut: stored.cut, limitChars: stored.limitChars } };
  const conflicts = work.branch.conflicts ?? [];
  await assertMayReadTask(app, work.task, mayRead);
  const related = await listRelatedHandoffs(app.db.manager, work.task.id);
  await admitUsers(
    app,
    work,
    related.flatMap(({ directedBy }) => directedBy),
  );
  // People became directors since the run was claimed: those whose comments and handoffs the agent reads.
  const run = { ...given.run, directedBy: await directorsOf(app.db.manager, runId) };
  // Stored text loses some characters; the first prompt already has to be without them.
  const opening = storable(await openingOf(app, { ...given, run }, { ...work, conflicts, sections, mayRead }, host));
  // Kept with this run, because the earlier run may be removed before this one has changed a file.
  const workspace = left === undefined ? null : await packFiles(await unpackFiles(left.files));
  await journal.write((em) => insertContext(em, runId, opening, workspace));
  return { opening, memory };
}

/** Builds the first messages of a conversation from the task and the files of its repository. */
export async function openingOf(
  app: App,
  given: Pick<Assignment, 'agent' | 'task' | 'repository'> & {
    run: Pick<RunRow, 'instructions' | 'directedBy' | 'kind'>;
  },
  work: Pick<Work, 'checkout' | 'baseHead' | 'settings'> & {
    conflicts: string[];
    sections: string[];
    mayRead: MayRead;
  },
  host: ToolHost,
): Promise<Message[]> {
  const { agent, task, run, repository } = given;
  // In parallel, because starting the tools takes a moment.
  const [map, instructions] = await Promise.all([
    host.call('list_files', { depth: 2 }),
    readInstructions(work.checkout, work.baseHead),
  ]);
  return openingMessages({
    agent,
    task,
    run,
    hasShell: host.hasShell,
    repositoryName: repository.name,
    sections: work.sections,
    conflicts: work.conflicts,
    map: map.text,
    instructions,
    ...(await readableHandoffs(app, given, work.mayRead)),
    checks: work.settings.checks,
    others: isAlone(given) ? [] : (await openable(app, repository)).map((r) => r.name),
  });
}

/**
 * Returns the handoffs of earlier runs of a task, and those of its subtasks and dependencies, as far as a run may read
 * them. They may repeat what is written in the repositories that the earlier runs had opened. Those of other tasks that
 * follow the words of people who do not direct the run are left out.
 */
export async function readableHandoffs(
  app: App,
  { task, run }: Pick<Assignment, 'task'> & { run: Pick<RunRow, 'directedBy'> },
  mayRead: MayRead,
) {
  const em = app.db.manager;
  const all = await listHandoffs(em, task.id);
  const listed = await listRelatedHandoffs(em, task.id);
  const opened = await listOpenedOfTasks(em, [task.id, ...listed.map(({ taskId }) => taskId)]);
  const openedBy = (runId: string) => opened.flatMap((each) => (each.runId === runId ? [each.repositoryId] : []));
  const handoffs: typeof all = [];
  for (const each of all) if (await mayRead(openedBy(each.runId))) handoffs.push(each);
  const related: typeof listed = [];
  for (const each of listed)
    if (
      each.directedBy.every((id) => run.directedBy.includes(id)) &&
      (await mayRead([each.repositoryId, ...openedBy(each.runId)]))
    )
      related.push(each);
  return { handoffs, related };
}

/**
 * Checks that a run may read the text of its task, if a model wrote it that had opened other repositories.
 * @throws RunFailed `repository`
 */
export async function assertMayReadTask(app: App, task: TaskView, mayRead: MayRead): Promise<void> {
  if (await mayRead(await sourcesOfText(app.db.manager, task))) return;
  throw new RunFailed(
    'repository',
    'the text of this subtask comes from a run that had opened other repositories; everybody who directs its runs needs write permission there',
  );
}

const saidMeanwhile = 'Somebody said something to you. Read the next message, then call finish again.';

function loopContext(
  app: App,
  given: Limited,
  work: Work,
  {
    repositories,
    signals,
    memory,
    turnsBefore,
  }: { repositories: OpenRepositories; signals: Signals; memory: Memory; turnsBefore: number },
): LoopContext {
  const { host } = repositories;
  const { run, task, model, limitsNow } = given;
  const mode = work.planning?.mode ?? 'never';
  // Reads `work.secrets` each time, because it grows when another repository is opened.
  const clean = <T>(value: T) => withoutSecrets(value, work.secrets);
  let judged: Trees | undefined;
  const text = openLiveText(app.db, run.id, () => work.secrets);
  const hearing = openMessageInbox(app, run, work.journal);
  const beforeWait = () => noteRefused(work);
  const turns = openTurns(app, given, work, {
    repositories,
    hearing,
    memory,
    turnsBefore,
    judged: () => judged,
    beforeWait,
  });
  return {
    model,
    host,
    offered: {
      hasShell: host.hasShell,
      maySplit: task.parentId === null && !isAlone(work),
      isAlone: isAlone(work),
      plan: mode,
      // The agent may open further repositories.
      get submodules() {
        return !isAlone(work) && allWorks(work).some(({ checkout }) => checkout.submodules !== undefined);
      },
    },
    limits: limitsNow,
    memory,
    signal: signals.tools,
    hear: hearing.readUnread,
    hasMore: hearing.hasMore,
    judge: async (ending, messages) => {
      const ended = await host.endProcesses();
      const refuse = (objection: string) => ({
        accepted: false as const,
        objection: ended.length === 0 ? objection : `${objection}\n\n${endedNotice(ended)}`,
      });
      const isApproved: Judging['isSetupApproved'] = (change) => isSetupApproved(app, work, change);
      const judgement = await judgeEnding(work, ending, {
        ...{ mode, messages, isSetupApproved: isApproved },
        isProved: (of, tree) => isProvedBefore(app, of, tree),
      });
      if ('objection' in judgement) return refuse(judgement.objection);
      // Nobody is asked to allow set-up of a change that is never pushed. The hidden tests decide about it as it is.
      if (!judgement.accepted && isAlone(work)) return { accepted: true, evidence: { trees: judgement.trees } };
      if (await hearing.hasMore()) return refuse(saidMeanwhile);
      judged = judgement.accepted ? judgement.evidence.trees : judgement.trees;
      return judgement;
    },
    spent: () => spentOf(app, run, task),
    answerComment: (id, answer) => work.journal.write((em) => draftAnswer(em, run.id, id, answer)),
    // People see turns numbered from 1.
    note: (type, text, data = {}) => work.journal.note(type, clean(text), clean({ turn: turns.count() + 1, ...data })),
    withoutSecrets: clean,
    live: text.ofTurn(turns.count),
    keep: async (...turn) => {
      await text.end();
      await turns.keep(...turn);
    },
  };
}

/**
 * Computes what counts against the limits of a run. A task and the subtasks that a model created for it share one
 * budget.
 */
export async function spentOf({ config, db }: App, run: RunRow, task: TaskView): Promise<Spent> {
  const { creatorDayCostUsd, ...figures } = await readFigures(db.manager, run.id, task.parentId ?? task.id);
  const personDayIsOver =
    creatorDayCostUsd === null ? undefined : exhaustedPersonDay(config.MAX_PERSON_DAY_COST_USD, creatorDayCostUsd);
  return { ...figures, personDayIsOver };
}
