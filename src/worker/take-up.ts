import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { commentsSection } from '../conversation/briefing/briefing.ts';
import { commentsSince } from '../conversation/briefing/discussion.ts';
import { mergeText } from '../conversation/prompts.ts';
import { rewoundMessage, takeUpMessage } from '../conversation/take-up.ts';
import type { RunRow } from '../db/tables/run.ts';
import { RunFailed } from '../domain/run.ts';
import { withoutSecrets } from '../domain/secrets.ts';
import { storable, storableJson } from '../domain/text/sanitize.ts';
import type { Message } from '../llm/model.ts';
import { lackOfRightIn, openable, whyNotBeside } from '../repositories/rights.ts';
import { listRepositoriesById } from '../repositories/store.ts';
import { directorsOf, lackOfEntry, listOpened } from '../runs/directors.ts';
import { insertEvent, insertStep, type Journal, stepOf } from '../runs/journal.ts';
import { findRun } from '../runs/store.ts';
import { copiedStep, copyConversation, countAsOpenIn } from '../runs/taking-up/take-up-store.ts';
import { setMessages, type Turn } from '../runs/taking-up/turn-store.ts';
import { dropRevisions, isOfOwn, listOpenPulls, listRevisionsOf } from '../tasks/work-store.ts';
import { type Assignment, allWorks, type Work } from './work.ts';
import type { OpenRepositories } from './workspace/open-repositories.ts';
import { type ChangedFiles, packFiles } from './workspace/pack-files.ts';
import { filesBetween, unpackFiles } from './workspace/stored-files.ts';

/** What the base branch brought into the files of a rewound run. */
export interface CaughtUp {
  files: ChangedFiles;
  /** The paths that conflict, with the folder of their repository in front. */
  conflicts: string[];
}

/**
 * Merges the base branch into the files of a turn, as far as the task's branch has merged it since then. Without this, the
 * next commit would undo in the branch what others changed in the base.
 */
async function catchUp(work: Work, repositories: OpenRepositories): Promise<CaughtUp> {
  const caught: CaughtUp = { files: {}, conflicts: [] };
  for (const each of allWorks(work)) {
    const { checkout, branch } = each;
    if (branch.catchesUp === undefined) continue;
    // Files that the base branch brings may be in Git LFS.
    await checkout.largeFiles?.know(branch.base);
    const tree = await checkout.snapshot();
    // A commit for the merge only. Every worker makes the same one, and it is never pushed.
    const author = { name: 'merge', email: 'merge@localhost' };
    const at = new Date('2001-01-01T00:00:00Z');
    const ours = await checkout.commit({
      tree,
      parents: [branch.filesFrom ?? branch.from],
      message: 'merge',
      author,
      at,
    });
    const { tree: merged, conflicts } = await checkout.merge(ours, branch.base);
    const isOwn = each === work;
    caught.files[isOwn ? '' : each.repository.id] = await filesBetween(checkout, tree, merged);
    if (conflicts.length === 0) continue;
    each.branch = { ...branch, conflicts };
    const folder = isOwn ? '' : `../${each.repository.name}/`;
    caught.conflicts.push(...conflicts.map((path) => folder + path));
  }
  if (Object.keys(caught.files).length > 0) await repositories.restore(caught.files);
  return caught;
}

/** Stores what the base branch brought with the last turn that was copied. */
async function keepCaughtUp(em: EntityManager, work: Work, turn: number, { files }: CaughtUp): Promise<void> {
  if (Object.keys(files).length === 0) return;
  const [row]: { workspace: Buffer | null }[] = await em.query(
    'select workspace from run_turns where run_id = $1 and turn = $2',
    [work.run.id, turn],
  );
  const before = row?.workspace ?? null;
  const packs = [before, await packFiles(files)].filter((pack) => pack !== null);
  await em.query('update run_turns set workspace = $3 where run_id = $1 and turn = $2', [
    work.run.id,
    turn,
    await packFiles(await unpackFiles(packs)),
  ]);
  for (const { branch, repository } of allWorks(work))
    if (branch.catchesUp !== undefined)
      await em.query('update run_steps set data = $3 where run_id = $1 and name = $2', [
        work.run.id,
        stepOf('branch', work.task, repository),
        storableJson(branch),
      ]);
}

const told = 'continuation';

/** How often GitHub is asked when people keep becoming directors of the run. */
const maxQuestions = 5;

/**
 * Gives a run the conversation that it takes up; a rewound run has it already. Call it before the workspace is opened,
 * because the workspace may have to begin from the same commit too. Starts over when the conversation is no longer
 * kept, or has the content of a repository in which a director of the new run may not write.
 */
export async function takeUpConversation(
  app: App,
  { continuesRunId: from, id }: RunRow,
  { task, journal, retrying }: Pick<Work, 'task' | 'journal' | 'retrying'>,
): Promise<void> {
  if (from === null || (await journal.recall(copiedStep)) !== undefined) return;
  for (let question = 1; ; question++) {
    const directors = await directorsOf(app.db.manager, id);
    const lack =
      question > maxQuestions
        ? 'people kept speaking to this run before it began'
        : await retrying(async () => {
            const opened = await listOpened(app.db.manager, from, task.repositoryId);
            const lack = await lackOfRightIn(app, directors, opened, 'write');
            return lack ?? whyNotBeside(app, task.repositoryId, opened);
          });
    const isDone = await journal.write(async (em) => {
      // Somebody may have become a director while GitHub was asked. The run is locked now, so nobody else does until the copy is stored.
      const isAsked = (await directorsOf(em, id)).every((director) => directors.includes(director));
      if (!isAsked && lack === undefined) return false;
      const copied = lack === undefined ? await copyConversation(em, from, id) : { turns: 0, filesSince: 0 };
      const { turns } = copied;
      await insertStep(em, id, copiedStep, copied);
      const without = lack ?? 'the conversation of the earlier run is no longer kept';
      const text = turns === 0 ? `starts over: ${without}` : 'goes on with the conversation of an earlier run';
      await insertEvent(em, id, 'loop', text, { turns });
      return true;
    });
    if (isDone) return;
  }
}

/**
 * Adds to the instructions of a run the requests for changes that may repeat what is in other repositories than its own. It counts as
 * having opened those. What it may not know is dropped, and its log says why.
 * @throws RunFailed `repository` when nothing of what a revision was asked for is left
 */
export async function withRequests(
  app: App,
  given: Assignment,
  { journal, retrying }: Pick<Work, 'journal' | 'retrying'>,
): Promise<Assignment> {
  const { run, repository } = given;
  const all = await listRevisionsOf(app.db.manager, run.id);
  const requests = all.filter((revision) => !isOfOwn(revision, repository.id));
  if (requests.length === 0) return given;
  const reasons = await journal.once('requests left out', async () => {
    const found: Record<string, string> = {};
    for (const { id, repositoryIds } of requests) {
      const others = repositoryIds.filter((each) => each !== repository.id);
      const reason = await retrying(() => lackOfOthers(app, { run, journal, repository }, others));
      if (reason === undefined) continue;
      found[id] = reason;
      await journal.note('assignment', `a request that is about another repository is left out: ${reason}`);
    }
    return found;
  });
  const known = requests.filter(({ id }) => reasons[id] === undefined);
  const [reason] = Object.values(reasons);
  // A failed run leaves the request to the next one.
  if (run.kind === 'revise' && run.instructions === '' && known.length === 0)
    throw new RunFailed('repository', `the request for changes is about another repository. ${reason}`);
  // Otherwise its agent would have to answer comments that it does not know.
  await journal.write((em) => dropRevisions(em, Object.keys(reasons)));
  const instructions = [run.instructions, ...known.map(({ text }) => text)].filter((text) => text !== '').join('\n\n');
  return { ...given, run: { ...run, instructions } };
}

/** Returns why a run may not know the content of other repositories than its own; otherwise it counts as having opened them. */
async function lackOfOthers(
  app: App,
  { repository, ...entering }: Pick<Work, 'run' | 'journal' | 'repository'>,
  ids: string[],
): Promise<string | undefined> {
  if ((await whyNotBeside(app, repository.id, ids)) !== undefined)
    return `It may repeat the content of a private repository, which may not be shown in ${repository.name}.`;
  for (const other of await listRepositoriesById(app.db.manager, ids)) {
    const lack = await lackOfEntry(app, entering, other);
    if (lack !== undefined) return lack;
  }
  return undefined;
}

/**
 * Tells the agent, once, that a new run takes up its conversation, and what happened since then. The message belongs to
 * the last turn of the earlier run. Returns the turns with it.
 */
export async function tellOfTakeUp(
  app: App,
  work: Work,
  turns: Turn[],
  { repositories, signal }: { repositories: OpenRepositories; signal: AbortSignal },
): Promise<Turn[]> {
  const { run, journal } = work;
  const last = turns.at(-1);
  if (run.continuesRunId === null || last === undefined || (await isTold(journal))) return turns;
  const caught = await catchUp(work, repositories);
  const message = await messageFor(app, work, { turns: turns.length, caught, signal });
  if (message === undefined) return turns;
  const messages = [...last.messages, storable(withoutSecrets(message, work.secrets))];
  await journal.write(async (em) => {
    await setMessages(em, run.id, turns.length - 1, messages);
    await countAsOpenIn(em, run.id, turns.length - 1);
    await keepCaughtUp(em, work, turns.length - 1, caught);
    await insertStep(em, run.id, told, {});
  });
  return [...turns.slice(0, -1), { ...last, messages }];
}

/** Writes what the agent has to know; undefined when there is nothing to say. */
async function messageFor(
  app: App,
  work: Work,
  { turns, caught, signal }: { turns: number; caught: CaughtUp; signal: AbortSignal },
): Promise<Message | undefined> {
  const { run, branch } = work;
  const { instructions } = run;
  if (run.rewoundTurn !== null) {
    const isMerged = Object.keys(caught.files).length > 0;
    const openedLater = await findOpenedLater(app, work);
    return rewoundMessage({ turns, instructions, isMerged, openedLater, merge: mergeText(caught.conflicts) });
  }
  const before = run.continuesRunId === null ? null : await findRun(app.db.manager, run.continuesRunId);
  if (before?.failure == null) return undefined;
  const comments = commentsSection(await commentsSince(app, work, before.startedAt ?? before.createdAt, signal));
  return takeUpMessage({
    failure: before.failure,
    instructions,
    comments,
    merge: mergeText(branch.conflicts ?? []),
  });
}

/** Returns the names of the repositories that the run has not opened, but in which pull requests of its task are open. */
async function findOpenedLater(app: App, work: Work): Promise<string[]> {
  const isOpen = new Set(allWorks(work).map(({ repository }) => repository.id));
  const pulls = await listOpenPulls(app.db.manager, work.task.id);
  const left = new Set(pulls.map((pull) => pull.repositoryId).filter((id) => !isOpen.has(id)));
  if (left.size === 0) return [];
  return (await openable(app, work.repository)).flatMap(({ id, name }) => (left.has(id) ? [name] : []));
}

/** Returns whether the message is in the conversation, or the run has started over and needs none. */
async function isTold(journal: Journal): Promise<boolean> {
  const { turns } = (await journal.recall<{ turns: number }>(copiedStep)) ?? { turns: 0 };
  return turns === 0 || (await journal.recall(told)) !== undefined;
}
