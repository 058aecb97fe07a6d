import type { App } from '../../app.ts';
import type { RunRow } from '../../db/work-tables.ts';
import { UnfitWorkTree } from '../../git/work-tree/unfit-work-tree.ts';
import type { Message } from '../../llm/model.ts';
import { costOf } from '../../llm/pricing.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import { showTask } from '../../tasks/move.ts';
import type { TaskView } from '../../tasks/store.ts';
import { listHandoffs, listRelatedHandoffs } from '../../tasks/work-store.ts';
import { insertTurn, listTurns } from '../lease/journal-store.ts';
import { withoutSecrets } from '../outgoing/outgoing-scan.ts';
import type { Work } from '../publish/publish.ts';
import { addUsage, costOfDay, findRun, spentByFamily } from '../store.ts';
import { type AtHand, openable, repositoriesAtHand } from '../workspace/at-hand.ts';
import { packFiles, type Signals, unpackFiles } from '../workspace/workspace.ts';
import type { Assignment } from './assignment.ts';
import { readInstructions, withNestedInstructions } from './instructions.ts';
import { converse, type Ending } from './loop.ts';
import { openingMessages } from './prompts.ts';

/** So many handoffs of earlier runs a new one is told. */
const handoffsTold = 5;

/**
 * Agent and tools at work in the workspace, until the conversation ends. Turns of an earlier worker are taken over, the
 * workspace with them.
 */
export async function workInside(
  app: App,
  given: Assignment,
  work: Work,
  about: {
    signals: Signals;
    objection: (ending: Ending, messages: Message[], host: ToolHost) => Promise<string | undefined>;
  },
): Promise<Ending> {
  const { run, task, agent, model, budgets, repository } = given;
  const { checkout, branch, journal, baseHead, settings } = work;
  const turns = await listTurns(app.db.manager, run.id);
  const instructed = withNestedInstructions(work.host, checkout, baseHead);
  const atHand = repositoriesAtHand(app, given, work, instructed, about.signals);
  const { host } = atHand;
  try {
    await atHand.reopen();
    const packed = turns.findLast((t) => t.workspace !== null)?.workspace;
    if (packed) await atHand.restore(await unpackFiles(packed));
    const settled = await journal.recall<Ending>('ending');
    if (settled !== undefined) return settled;
    // Side by side, because the tools take a moment to start.
    const [map, instructions] = await Promise.all([
      host.call('list_files', { depth: 2 }),
      readInstructions(checkout, baseHead),
    ]);
    const opening = openingMessages({
      agent,
      task,
      run,
      hasShell: host.hasShell,
      repositoryName: repository.name,
      conflicts: branch.conflicts ?? [],
      map: map.text,
      instructions,
      handoffs: (await listHandoffs(app.db.manager, task.id)).slice(-handoffsTold),
      related: await listRelatedHandoffs(app.db.manager, task.id),
      checks: settings.checks,
      others: (await openable(app, work)).map((r) => r.name),
    });
    const shown = <T>(value: T) => withoutSecrets(value, work.secrets);
    let count = turns.length;
    await journal.note('loop', count > 0 ? `${agent.name} goes on after ${count} turns` : `${agent.name} begins`);
    const ending = await converse(
      {
        model,
        host,
        offered: { hasShell: host.hasShell, maySplit: task.parentId === null },
        budgets,
        signal: about.signals.tools,
        objection: (ending, messages) => about.objection(ending, messages, work.host),
        spent: () => spentOf(app, run, task),
        note: (type, text, data = {}) => journal.note(type, shown(text), shown(data)),
        shown,
        keep: async (messages, { inputTokens, outputTokens }, changed) => {
          const state = changed ? await filesOf(atHand) : null;
          const costUsd = costOf(app.config.MODEL_PRICES, model.name, inputTokens, outputTokens);
          await journal.write(async (em) => {
            await insertTurn(em, run.id, count, { messages, workspace: state });
            await addUsage(em, run.id, { inputTokens, outputTokens, costUsd });
            await showTask(app, em, task.id);
          });
          count += 1;
        },
      },
      [...opening, ...turns.flatMap((t) => t.messages)],
    );
    return await journal.once('ending', async () => ending);
  } finally {
    await host.close();
  }
}

/** The changed files to go on from after a crash; none where the work tree is unfit for the moment, which the end will tell. */
async function filesOf(atHand: AtHand): Promise<Buffer | null> {
  try {
    return await packFiles(await atHand.files());
  } catch (error) {
    if (error instanceof UnfitWorkTree) return null;
    throw error;
  }
}

/** Runs of subtasks that the model made share the budget of their parent, and it shares it with them. */
async function spentOf(app: App, run: RunRow, task: TaskView) {
  const em = app.db.manager;
  const own = (await findRun(em, run.id)) ?? run;
  const family = await spentByFamily(em, task.parentId ?? task.id, run);
  return {
    steps: own.steps,
    tokens: own.inputTokens + own.outputTokens + family.tokens,
    costUsd: (own.costUsd ?? 0) + family.costUsd,
    dayCostUsd: await costOfDay(em, run.projectId),
  };
}
