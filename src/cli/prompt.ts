import { findAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { sectionsOf } from '../conversation/briefing/briefing.ts';
import { customsSections } from '../conversation/briefing/customs.ts';
import { readSkills } from '../conversation/briefing/skills.ts';
import { promptLength, usualRatio } from '../conversation/memory.ts';
import { toolSpecs } from '../conversation/tools.ts';
import { chooseFiles } from '../environment/files/choose-files.ts';
import { readersOf } from '../environment/files/private-submodules.ts';
import { notConfigured } from '../errors.ts';
import type { Message, ToolSpec } from '../llm/model.ts';
import { credentialFor, remoteFor } from '../repositories/credentials.ts';
import { readCustoms } from '../repositories/customs/customs.ts';
import { openCheckout, startTools } from '../repositories/reader.ts';
import { rightProblemIn } from '../repositories/rights.ts';
import { readBase } from '../repositories/settings/repository-settings.ts';
import { repositoryFor } from '../runs/operations.ts';
import { getTask } from '../tasks/store.ts';
import { listRelatedHandoffs } from '../tasks/work-store.ts';
import { openingOf } from '../worker/session.ts';
import { withApp } from './operator.ts';

/** Time limit for cloning the repository and starting its tools. */
const patienceMs = 300_000;

/**
 * Returns what a run of the task would send to its model first if it started now: the first messages and the tools. Reads
 * the repository, and changes nothing.
 * @throws AppError 404 for an unknown task, 503 when it has no agent or no repository
 */
async function previewPrompt(app: App, taskId: string): Promise<{ messages: Message[]; tools: ToolSpec[] }> {
  const em = app.db.manager;
  const task = await getTask(em, taskId);
  const agent = task.owner === null ? null : await findAgent(em, task.owner);
  const repository = await repositoryFor(em, task);
  if (agent === null) throw notConfigured('The task has no owner. Assign an agent to it first.');
  if (repository === null) throw notConfigured('The task has no repository. Connect one to the project first.');
  const signal = AbortSignal.timeout(patienceMs);
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const { host, placed } = await startTools(app, checkout, signal, async () => {
      const base = await readBase(checkout, { repository, remote });
      const head = task.base === null ? base.head : await checkout.fetch(task.base);
      if (head === undefined) throw notConfigured(`The repository has no branch ${task.base}.`);
      const readers = readersOf(app, repository, task.directedBy);
      await chooseFiles(checkout, { app, remote, settings: base.settings, signal, readers });
      await checkout.checkout(head);
      return { settings: base.settings, baseHead: head };
    });
    try {
      const { settings, baseHead } = placed;
      const related = (await listRelatedHandoffs(em, taskId)).flatMap(({ directedBy }) => directedBy);
      const run = {
        kind: 'start' as const,
        instructions: '',
        directedBy: [...new Set([...task.directedBy, ...related])],
      };
      const given = { agent, task, repository, run };
      const customs = customsSections(await readCustoms(checkout, baseHead, settings), { commits: [], pulls: [] });
      const sections = sectionsOf({ skills: await readSkills(checkout, baseHead), customs });
      const mayRead = async (ids: (string | null)[]) => {
        const others = ids.filter((id) => id !== repository.id);
        if (others.includes(null)) return false;
        return (await rightProblemIn(app, run.directedBy, others as string[], 'write')) === undefined;
      };
      const about = { checkout, baseHead, settings, sections, conflicts: [], mayRead };
      const messages = await openingOf(app, given, about, host);
      return { messages, tools: toolSpecs({ hasShell: host.hasShell, maySplit: task.parentId === null }) };
    } finally {
      await host.close();
    }
  } finally {
    await remove();
  }
}

/** Runs `prompt TASK`: prints what a run of the task would send to its model first, with an estimate of its tokens. */
export async function printPrompt(config: Config, args: string[]): Promise<number> {
  const [taskId, ...others] = args;
  if (taskId === undefined || others.length > 0)
    throw new Error('give the id of one task, e.g. npm run --silent prompt -- task_01h455vb4pex5vsknk084sn02q');
  return withApp(config, async (app) => {
    const { messages, tools } = await previewPrompt(app, taskId);
    const write = (text: string) => process.stdout.write(text);
    for (const { role, content } of messages) write(`===== ${role} =====\n${content}\n\n`);
    write(`===== tools =====\n${tools.map(({ name }) => name).join(', ')}\n\n===== length =====\n`);
    for (const message of messages) write(lengthLine(message.role, promptLength([message], [])));
    write(lengthLine('tools', promptLength([], tools)));
    write(lengthLine('together', promptLength(messages, tools)));
    write(`Tokens are an estimate: ${usualRatio} characters each. The model server counts its own.\n`);
    return 0;
  });
}

function lengthLine(name: string, chars: number): string {
  const tokens = Math.round(chars / usualRatio).toLocaleString('en-GB');
  return `${name}: ${chars.toLocaleString('en-GB')} characters, about ${tokens} tokens\n`;
}
