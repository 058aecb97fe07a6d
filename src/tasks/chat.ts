import { type Asking, converseInChat } from '../agents/chat.ts';
import { findAgent, findProjectAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import { defaultAgentName } from '../domain/agent.ts';
import { fenced } from '../domain/text/sanitize.ts';
import { findRepository } from '../repositories/store.ts';
import type { TaskView } from './store.ts';
import { findDiff, listHandoffs, listLatestRuns, listPulls } from './work-store.ts';

/** Characters of the diff in the prompt. The agent can read the files to see the rest. */
const diffChars = 20_000;
/** The prompt names at most this many of the latest runs. */
const maxRuns = 5;

/**
 * Asks the agent of a task about the task and returns its reply. The agent sees the runs, the diff and the handoffs,
 * and can read the repository at the branch of the task. It changes nothing. With `isAlone`, the question is asked
 * without the earlier conversation and does not become part of it.
 * @throws AppError 502 when the model fails, 503 when none is configured
 */
export async function chatAboutTask(app: App, task: TaskView, asking: Asking, isAlone = false): Promise<string> {
  const em = app.db.manager;
  const agent =
    (task.owner === null ? null : await findAgent(em, task.owner)) ??
    (await findProjectAgent(em, task.projectId, defaultAgentName)) ??
    undefined;
  return converseInChat(app, {
    about: isAlone ? undefined : { taskId: task.id },
    projectId: task.projectId,
    agent,
    context: await describe(app, task),
    reads: {
      repository: task.repositoryId === null ? null : await findRepository(em, task.repositoryId),
      branch: task.branchName,
    },
    ...asking,
  });
}

async function describe(app: App, task: TaskView): Promise<string> {
  const em = app.db.manager;
  const runs = await listLatestRuns(em, task.id, maxRuns);
  const diff = await findDiff(em, task.id);
  const parts = [
    `# The task: ${task.title}\nStatus: ${task.status}${task.branchName === null ? '' : `, branch ${task.branchName}`}`,
    task.description === '' ? '' : `## Description\n${fenced(task.description)}`,
    list(
      'Runs, newest first',
      runs,
      (r) => `${r.kind} ${r.createdAt.toISOString()}: ${r.status}${r.failure ? `, ${r.failure.message}` : ''}`,
    ),
    list('Handoffs', await listHandoffs(em, task.id), (h) => [h.summary, ...h.nextSteps].join('; next: ')),
    list('Pull requests', await listPulls(em, task.id), (p) => `${p.prUrl} (${p.status})`),
    diff === undefined ? '' : `## The diff\n${fenced(JSON.stringify(diff.files).slice(0, diffChars))}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function list<T>(title: string, items: T[], line: (item: T) => string): string {
  return items.length === 0 ? '' : `## ${title}\n${items.map((item) => `- ${line(item)}`).join('\n')}`;
}
