import { findAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { notConfigured } from '../../errors.ts';
import type { Message, ToolSpec } from '../../llm/model.ts';
import { openCheckout, startTools } from '../../repositories/checkout.ts';
import { credentialFor, remoteFor } from '../../repositories/credentials.ts';
import { readSettings } from '../../repositories/settings/repository-settings.ts';
import { getTask } from '../../tasks/store.ts';
import { listRelatedHandoffs } from '../../tasks/work-store.ts';
import { sectionsOf } from '../briefing/sections.ts';
import { readSkills } from '../briefing/skills.ts';
import { repositoryFor } from '../start-problem.ts';
import { openingOf } from './session.ts';
import { toolSpecs } from './tools.ts';

/** Time limit for cloning the repository and starting its tools. */
const patienceMs = 300_000;

/**
 * Returns what a run of the task would send to its model first if it started now: the first messages and the tools. Reads
 * the repository, and changes nothing.
 * @throws AppError 404 for an unknown task, 503 when it has no agent or no repository
 */
export async function previewPrompt(app: App, taskId: string): Promise<{ messages: Message[]; tools: ToolSpec[] }> {
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
    const { host, placed: baseHead } = await startTools(app, checkout, signal, async () => {
      const head = await checkout.fetch(repository.defaultBranch);
      if (head === undefined) throw notConfigured(`The repository has no branch ${repository.defaultBranch}.`);
      await checkout.checkout(head);
      return head;
    });
    try {
      const settings = await readSettings(checkout, baseHead);
      const related = (await listRelatedHandoffs(em, taskId)).flatMap(({ directedBy }) => directedBy);
      const run = { instructions: '', directedBy: [...new Set([...task.directedBy, ...related])] };
      const given = { agent, task, repository, run };
      const sections = sectionsOf({ skills: await readSkills(checkout, baseHead) });
      const messages = await openingOf(app, given, { checkout, baseHead, settings, sections, conflicts: [] }, host);
      return { messages, tools: toolSpecs({ hasShell: host.hasShell, maySplit: task.parentId === null }) };
    } finally {
      await host.close();
    }
  } finally {
    await remove();
  }
}
