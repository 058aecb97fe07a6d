import type { EntityManager } from 'typeorm';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { mayName, mayReveal } from '../../domain/settings.ts';
import { type AskedOfChange, approvalText, readApproval } from '../../domain/waiting.ts';
import { findProject } from '../../projects/store.ts';
import { mayShowMcp } from '../../repositories/rights.ts';
import { listProjectRepositories, listRepositoriesById } from '../../repositories/store.ts';
import { listOpened } from '../../runs/directors.ts';
import { hasMcpAnswers } from '../../runs/journal.ts';
import type { TaskPicture } from './status-comment.ts';

/** Whether readers may see what is about a repository: the one of the task, or another one by its name. */
export interface Visible {
  own: boolean;
  others: ReadonlySet<string>;
}

/** Returns what the readers of a repository may see of the other ones of a task; undefined if they may see all. */
export async function visibleIn(
  em: EntityManager,
  task: { projectId: string; repositoryId: string | null },
  shownIn: Pick<RepositoryRow, 'isPrivate'>,
): Promise<Visible | undefined> {
  if (shownIn.isPrivate) return undefined;
  const shown = (await listProjectRepositories(em, task.projectId)).filter((each) => mayName(each, shownIn));
  // A repository that is no longer connected counts as private.
  return { own: shown.some(({ id }) => id === task.repositoryId), others: new Set(shown.map(({ name }) => name)) };
}

/** Replaces the lines of an approval about private repositories by their number. */
export function visibleApproval(text: string, visible: Visible): string {
  const { own, others } = visible;
  const asked = readApproval(text);
  const isShown = (name: string | undefined) => (name === undefined ? own : others.has(name));
  const isPath = (line: string) => isShown(/^\.\.\/+([^/]*)/.exec(line)?.[1]);
  const parts: AskedOfChange = {
    setup: counted(asked.setup, () => own),
    // Sentences about the repository of the task have no name before them.
    expectations: counted(asked.expectations, (line) => isShown(/^([\w.-]+): /.exec(line)?.[1])),
    findings: counted(asked.findings, isPath),
    files: counted(asked.files, isPath),
  };
  return approvalText(parts);
}

function counted(lines: string[], isShown: (line: string) => boolean): string[] {
  const shown = lines.filter(isShown);
  const hidden = lines.length - shown.length;
  if (hidden === 0) return lines;
  const which = hidden === 1 ? '1 line about a private repository' : `${hidden} lines about private repositories`;
  return [...shown, `${which}; the page of the task shows ${hidden === 1 ? 'it' : 'them'}`];
}

/** What readers of a public repository see of an event that lists the files of a change. */
const waiting = 'waiting for approval of the change';

/** Words an event for readers who may not see all repositories of the task. */
export function visibleEvent({ type, text, data }: { type: string; text: string; data: object }): string {
  return type === 'waiting' && 'reason' in data && data.reason === 'push' ? waiting : text;
}

interface ShownTask {
  id: string;
  projectId: string;
  repositoryId: string | null;
}

/**
 * Returns why readers of a repository may not see what the agent did and wrote in a run, in a sentence; undefined if they may. They may not
 * after the task was moved to a private repository, after a repository became private, after one with answers of MCP servers became
 * public, or after the project stopped sharing private context.
 */
async function whyHidden(
  em: EntityManager,
  task: ShownTask,
  runId: string | undefined,
  shownIn: RepositoryRow,
): Promise<string | undefined> {
  const own = task.repositoryId === null ? [] : [task.repositoryId];
  const ids = [...own, ...(runId === undefined ? [] : await listOpened(em, runId, task.repositoryId))];
  const project = await findProject(em, task.projectId);
  const known = await listRepositoriesById(em, ids);
  // A repository that is no longer connected counts as private.
  const all = ids.map((id) => known.find((each) => each.id === id) ?? { isPrivate: true });
  if (!all.every((repository) => mayReveal(repository, shownIn, project)))
    return 'It is about a private repository. The page of the task shows it.';
  if (!(await mayShowMcp(em, shownIn)) && (await hasMcpAnswers(em, task.id)))
    return 'It may repeat answers of MCP servers. The page of the task shows it.';
  return undefined;
}

/** Returns a picture of a task without what an agent did and wrote in the latest run, if the readers of a repository may not see that. */
export async function visiblePicture(
  em: EntityManager,
  task: ShownTask,
  { runId, shownIn }: { runId: string | undefined; shownIn: RepositoryRow },
  picture: TaskPicture,
): Promise<TaskPicture> {
  const elsewhere = await whyHidden(em, task, runId, shownIn);
  if (elsewhere === undefined) return picture;
  const { attention, failure } = picture;
  return {
    ...picture,
    attention: attention && { id: attention.id, reason: attention.reason, text: elsewhere, options: [] },
    failure: failure && { ...failure, message: elsewhere },
    lines: [],
    handoff: null,
    proof: picture.proof && { ...picture.proof, reason: null },
    // An agent may have named them.
    subtasks: picture.subtasks.map((each) => ({ ...each, title: 'A subtask' })),
  };
}
