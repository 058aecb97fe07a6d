import { type Asking, converseInChat } from '../../agents/chat/converse.ts';
import { findAgent, findBuiltInAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { defaultAgentKey } from '../../domain/agent.ts';
import { findRepository } from '../../repositories/store.ts';
import type { TaskView } from '../../tasks/store.ts';
import { findDiff, findHeldDiff } from '../../tasks/work-store.ts';
import { describeTask } from './describe-task.ts';

/**
 * Asks the agent of a task about the task and returns its reply. The agent sees the runs with their checks, the proof, the
 * diff and the handoffs, and can read the repository at the branch of the task. It changes nothing. With `isAlone`, the
 * question is asked without the earlier conversation and does not become part of it. With `hidesPrivate`, the prompt has no
 * names of sprints, tasks and pull requests that may be private.
 * @throws AppError 502 when the model fails, 503 when none is configured
 */
export async function chatAboutTask(
  app: App,
  task: TaskView,
  asking: Asking,
  { isAlone, hidesPrivate } = { isAlone: false, hidesPrivate: false },
): Promise<string> {
  const em = app.db.manager;
  const agent =
    (task.owner === null ? null : await findAgent(em, task.owner)) ??
    (await findBuiltInAgent(em, task.projectId, defaultAgentKey)) ??
    undefined;
  const diff = await findDiff(em, task.id);
  const paths = diff?.files.filter(({ status }) => status !== 'deleted').map(({ path }) => path) ?? [];
  return converseInChat(app, {
    about: isAlone ? undefined : { taskId: task.id },
    projectId: task.projectId,
    agent,
    context: await describeTask(app, task, (await findHeldDiff(em, task.id)) ?? diff, hidesPrivate),
    reads: {
      repository: task.repositoryId === null ? null : await findRepository(em, task.repositoryId),
      branch: task.branchName,
    },
    hidesPrivate,
    changed: diff === undefined ? undefined : { commit: diff.headSha, paths },
    ...asking,
  });
}
