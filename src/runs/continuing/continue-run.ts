import type { App } from '../../app.ts';
import type { RunRow } from '../../db/tables/task.ts';
import { withoutSecrets } from '../../domain/secrets/without-secrets.ts';
import { storable } from '../../domain/text/storable.ts';
import type { Message } from '../../llm/model.ts';
import { lackOfRightIn } from '../../repositories/rights.ts';
import { listOpenPulls } from '../../tasks/work-store.ts';
import { continuationMessage, rewoundMessage } from '../agent/context/continuation.ts';
import { mergeText } from '../agent/prompts.ts';
import { commentsSince } from '../briefing/discussion.ts';
import { commentsSection } from '../briefing/sections.ts';
import { directorsOf, listOpened } from '../directors.ts';
import type { Journal } from '../lease/journal.ts';
import { insertEvent, insertStep } from '../lease/journal-store.ts';
import { setMessages, type Turn } from '../lease/turn-store.ts';
import { findRun } from '../store.ts';
import { allWorks, type Work } from '../work.ts';
import { type OpenRepositories, openable } from '../workspace/open-repositories.ts';
import { type CaughtUp, catchUp, keepCaughtUp } from './catch-up.ts';
import { copiedStep, copyConversation } from './continue-store.ts';

const told = 'continuation';

/** How often GitHub is asked when people keep becoming directors of the run. */
const maxQuestions = 5;

/**
 * Gives a run the conversation that it continues; a rewound run has it already. Call it before the workspace is opened,
 * because the workspace may have to begin from the same commit too. Starts over when the conversation is no longer
 * kept, or has the content of a repository in which a director of the new run may not write.
 */
export async function takeUpConversation(
  app: App,
  { continuesRunId: from, id }: RunRow,
  { task, journal, patience }: Pick<Work, 'task' | 'journal' | 'patience'>,
): Promise<void> {
  if (from === null || (await journal.recall(copiedStep)) !== undefined) return;
  for (let question = 1; ; question++) {
    const directors = await directorsOf(app.db.manager, id);
    const lack =
      question > maxQuestions
        ? 'people kept speaking to this run before it began'
        : await patience(async () => {
            const opened = await listOpened(app.db.manager, from, task.repositoryId);
            return lackOfRightIn(app, directors, opened, 'write');
          });
    const isDone = await journal.write(async (em) => {
      // Somebody may have become a director while GitHub was asked. The run is locked now, so nobody does before the copy.
      const isAsked = (await directorsOf(em, id)).every((director) => directors.includes(director));
      if (!isAsked && lack === undefined) return false;
      const copied = lack === undefined ? await copyConversation(em, from, id) : { turns: 0, filesSince: 0 };
      const { turns } = copied;
      await insertStep(em, id, copiedStep, copied);
      const without = lack ?? `the conversation of ${from} is no longer kept`;
      const text = turns === 0 ? `starts over: ${without}` : `goes on with the conversation of ${from}`;
      await insertEvent(em, id, 'loop', text, { turns });
      return true;
    });
    if (isDone) return;
  }
}

/**
 * Tells the agent, once, that a new run continues its conversation, and what happened since then. The message belongs to
 * the last turn of the earlier run. Returns the turns with it.
 */
export async function tellOfContinuation(
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
  return continuationMessage({
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
