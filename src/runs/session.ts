import type { App } from '../app.ts';
import type { RunRow } from '../db/work-tables.ts';
import { costOf } from '../llm/pricing.ts';
import { showTask } from '../tasks/move.ts';
import { listHandoffs } from '../tasks/work-store.ts';
import type { Assignment } from './assignment.ts';
import type { Journal } from './journal.ts';
import { insertTurn, listTurns } from './journal-store.ts';
import { converse, type Ending } from './loop.ts';
import { openingMessages } from './prompts.ts';
import { addUsage, costOfDay, findRun } from './store.ts';
import { packWorkspace, unpackWorkspace, type Workspace } from './workspace.ts';

/** So many handoffs of earlier runs a new one is told. */
const handoffsTold = 5;

/**
 * Agent and tools at work in the workspace, until the conversation ends. Turns of an earlier worker are taken over, the
 * workspace with them.
 */
export async function workInside(
  app: App,
  given: Assignment,
  journal: Journal,
  workspace: Workspace,
  about: { signal: AbortSignal; objection: () => Promise<string | undefined> },
): Promise<Ending> {
  const { run, task, agent, model, budgets, repository } = given;
  const { checkout, branch } = workspace;
  const turns = await listTurns(app.db.manager, run.id);
  const host = await app.sandbox.open(checkout.workTree, checkout.gitDir, about.signal);
  try {
    const packed = turns.findLast((t) => t.workspace !== null)?.workspace;
    if (packed) await unpackWorkspace(host, packed);
    const settled = await journal.recall<Ending>('ending');
    if (settled !== undefined) return settled;
    const opening = openingMessages({
      agent,
      task,
      run,
      hasShell: host.hasShell,
      repositoryName: repository.name,
      conflicts: branch.conflicts ?? [],
      map: (await host.call('list_files', { depth: 2 })).text,
      handoffs: (await listHandoffs(app.db.manager, task.id)).slice(-handoffsTold),
    });
    let count = turns.length;
    await journal.note('loop', count > 0 ? `${agent.name} goes on after ${count} turns` : `${agent.name} begins`);
    const ending = await converse(
      {
        model,
        host,
        budgets,
        signal: about.signal,
        objection: about.objection,
        spent: () => spentOf(app, run),
        note: journal.note,
        keep: async (messages, { inputTokens, outputTokens }, changed) => {
          const state = changed ? await packWorkspace(checkout, branch.from) : null;
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

async function spentOf(app: App, run: RunRow) {
  const now = (await findRun(app.db.manager, run.id)) ?? run;
  return {
    steps: now.steps,
    tokens: now.inputTokens + now.outputTokens,
    costUsd: now.costUsd ?? 0,
    dayCostUsd: await costOfDay(app.db.manager, run.projectId),
  };
}
