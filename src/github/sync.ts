import type { EntityManager } from 'typeorm';
import { findAgent } from '../agents/store.ts';
import type { App, Octokit } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { credentialFor } from '../repositories/credentials.ts';
import { findRepository } from '../repositories/store.ts';
import { listEvents } from '../runs/journal-store.ts';
import { listRuns } from '../runs/store.ts';
import { findTask, listHandoffs, listPulls, type TaskView } from '../tasks/store.ts';
import { ownLabels, statusMarker, type TaskPicture, wanted } from './mirror.ts';
import { findOwnComment } from './replies.ts';
import { listMirrored, type Mirrored, markShown } from './store.ts';

/**
 * Makes GitHub show what the database says of a task: observes, computes the difference, applies it; the handler of
 * the `mirror` job. Two at once for one task take turns.
 */
export async function syncTask(app: App, taskId: string): Promise<void> {
  if (app.github === undefined) return;
  await app.db.transaction(async (em) => {
    await em.query('select pg_advisory_xact_lock(hashtextextended($1, 3))', [taskId]);
    const task = await findTask(em, taskId);
    if (task === undefined) return;
    for (const place of await listMirrored(em, taskId)) await syncPlace(app, em, task, place);
  });
}

async function syncPlace(app: App, em: EntityManager, task: TaskView, place: Mirrored): Promise<void> {
  const repository = await findRepository(em, place.repositoryId);
  if (repository === null) return;
  const credential = await credentialFor(app, repository);
  // Labels and comments are the App's; a project that has only a git token shows nothing.
  if (credential.kind !== 'installation' || app.github === undefined) return;
  const octokit = await app.github.asInstallation(credential.installationId);
  const { labels, comment, essence } = wanted(await pictureOf(app, em, task, place), !repository.isPrivate);
  const waitMs = app.config.MIRROR_INTERVAL_MS - (Date.now() - (place.shownAt?.getTime() ?? 0));
  if (place.shown === essence && waitMs > 0) {
    await app.queue.send(
      em,
      'mirror',
      { taskId: task.id },
      { key: `${task.id} later`, afterSeconds: Math.ceil(waitMs / 1000) },
    );
    return;
  }
  const at = { owner: credential.owner, repo: credential.repo, issue_number: place.number };
  try {
    await syncLabels(octokit, at, labels);
    const commentId = await syncComment(app, octokit, at, place, comment);
    await markShown(em, place, { commentId, shown: essence });
  } catch (error) {
    // The issue is deleted, transferred or locked: there is nothing to show it on.
    if (![403, 404, 410].includes((error as { status?: number }).status ?? 0) || isRateLimit(error)) throw error;
    app.log.info({ err: error, taskId: task.id }, 'a task cannot be shown');
  }
}

function isRateLimit(error: unknown): boolean {
  return /rate limit/i.test((error as Error).message);
}

interface At {
  owner: string;
  repo: string;
  issue_number: number;
}

async function syncLabels(octokit: Octokit, at: At, labels: string[]): Promise<void> {
  const path = '/repos/{owner}/{repo}/issues/{issue_number}/labels' as const;
  const { data } = await octokit.request(`GET ${path}`, { ...at, per_page: 100 });
  const shown = data.map((label) => label.name);
  const missing = labels.filter((name) => !shown.includes(name));
  if (missing.length > 0) await octokit.request(`POST ${path}`, { ...at, labels: missing });
  for (const name of shown.filter((n) => ownLabels.has(n) && !labels.includes(n)))
    await octokit.request(`DELETE ${path}/{name}`, { ...at, name }).catch((error) => {
      // Somebody took it off meanwhile, which is what we wanted.
      if (error.status !== 404) throw error;
    });
}

async function syncComment(app: App, octokit: Octokit, at: At, place: Mirrored, body: string): Promise<number> {
  const { owner, repo } = at;
  const path = '/repos/{owner}/{repo}/issues/comments/{comment_id}' as const;
  const stored =
    place.commentId === null
      ? undefined
      : await octokit.request(`GET ${path}`, { owner, repo, comment_id: place.commentId }).then(
          ({ data }) => data,
          (error) => {
            if (error.status === 404) return undefined;
            throw error;
          },
        );
  // A creation whose answer got lost left a comment that we have no number of.
  const found = stored ?? (await findOwnComment(app, octokit, at, statusMarker));
  if (found === undefined) {
    const made = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...at, body });
    return Number(made.data.id);
  }
  if (found.body !== body) await octokit.request(`PATCH ${path}`, { owner, repo, comment_id: Number(found.id), body });
  return Number(found.id);
}

async function pictureOf(app: App, em: EntityManager, task: TaskView, place: Mirrored): Promise<TaskPicture> {
  const runs = await listRuns(em, task.id, { limit: 100, offset: 0 });
  const [run] = runs;
  const agent = task.owner === null ? null : await findAgent(em, task.owner);
  const handoff = (await listHandoffs(em, task.id)).at(-1) ?? null;
  const costs = runs.flatMap((r) => (r.costUsd === null ? [] : [r.costUsd]));
  const lastEvent = run === undefined ? null : ((await listEvents(em, run.id)).at(-1)?.text ?? null);
  return {
    ...task,
    agent: agent?.name ?? null,
    notice: place.notice,
    run: run === undefined ? null : { ...run, lastEvent },
    pulls: await picturePulls(em, task.id),
    handoff: handoff?.runId === run?.id ? handoff : null,
    costUsd: costs.length === 0 ? null : costs.reduce((sum, c) => sum + c, 0),
    taskUrl: `${app.config.BASE_URL}/api/v1/tasks/${task.id}`,
    commandPrefix: app.config.COMMAND_PREFIX,
  };
}

async function picturePulls(em: EntityManager, taskId: string): Promise<TaskPicture['pulls']> {
  const pulls = await listPulls(em, taskId);
  const repositories = new Map<string, RepositoryRow | null>();
  for (const { repositoryId } of pulls)
    if (!repositories.has(repositoryId)) repositories.set(repositoryId, await findRepository(em, repositoryId));
  return pulls.map((p) => ({
    url: p.prUrl,
    number: p.prNumber,
    repositoryName: p.repositoryName,
    status: p.status,
    isPrivate: repositories.get(p.repositoryId)?.isPrivate ?? true,
  }));
}
