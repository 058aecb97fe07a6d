import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import { harmlessLine } from '../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { findSprint, type SprintView } from '../../sprints/store.ts';
import type { TaskView } from '../../tasks/store.ts';
import { type IssueRef, type Place, placeOfRepository, readRepository } from '../app/place.ts';
import { eachThenFail } from '../each-apart.ts';
import { listPages } from '../paginate.ts';
import { markMilestone } from './mirror-store.ts';

/** A milestone on GitHub that shows a sprint. */
export interface Milestone {
  repositoryId: string;
  number: number;
  /** Null once the sprint is deleted. */
  sprintId: string | null;
  /** What we last sent to GitHub, as JSON; empty when unknown. */
  shown: string;
}

async function listMilestones(em: EntityManager, projectId: string): Promise<Milestone[]> {
  return em.query(
    `select repository_id as "repositoryId", number, sprint_id as "sprintId", shown from sprint_milestones
     where repository_id in (select id from repositories where project_id = $1)`,
    [projectId],
  );
}

/** Finds the number of the milestone that shows a sprint in a repository. */
async function findMilestone(em: EntityManager, repositoryId: string, sprintId: string): Promise<number | undefined> {
  const rows: { number: number }[] = await em.query(
    'select number from sprint_milestones where sprint_id = $1 and repository_id = $2',
    [sprintId, repositoryId],
  );
  return rows[0]?.number;
}

async function insertMilestone(em: EntityManager, milestone: Milestone): Promise<void> {
  await em.query('insert into sprint_milestones (repository_id, number, sprint_id, shown) values ($1, $2, $3, $4)', [
    milestone.repositoryId,
    milestone.number,
    milestone.sprintId,
    milestone.shown,
  ]);
}

async function markMilestoneShown(
  em: EntityManager,
  repositoryId: string,
  number: number,
  shown: string,
): Promise<void> {
  await em.query('update sprint_milestones set shown = $3 where repository_id = $1 and number = $2', [
    repositoryId,
    number,
    shown,
  ]);
}

async function deleteMilestone(em: EntityManager, repositoryId: string, number: number): Promise<void> {
  await em.query('delete from sprint_milestones where repository_id = $1 and number = $2', [repositoryId, number]);
}

/** Sets the milestone of a task's issue to that of the task's sprint, unless people chose another milestone. */
export async function syncMilestone(
  app: App,
  em: EntityManager,
  { octokit, name, repository }: Omit<Place, 'installationId'>,
  task: TaskView,
  mirrored: MirroredRow,
): Promise<void> {
  if (task.issueNumber !== mirrored.number || task.issueRepositoryId !== repository.id) return;
  const sprint = task.sprintId === null ? undefined : await findSprint(em, task.sprintId);
  const isShown = sprint !== undefined && sprint.status !== 'planning';
  const wanted = isShown ? await ensureMilestone(app, em, { octokit, name, repository }, sprint) : null;
  if (wanted === mirrored.milestone) return;
  if (await setMilestone(octokit, { ...name, issue_number: mirrored.number }, mirrored.milestone, wanted))
    await markMilestone(em, mirrored, wanted);
  else if (wanted !== null) await deleteMilestone(em, repository.id, wanted);
}

/**
 * Replaces `ours` by `wanted` on an issue, unless people chose another milestone. Returns false when `wanted` does not
 * exist.
 */
async function setMilestone(
  octokit: Octokit,
  issueRef: IssueRef,
  ours: number | null,
  wanted: number | null,
): Promise<boolean> {
  const { data: issue } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', { ...issueRef });
  const current = issue.milestone?.number ?? null;
  const isPeoplesChoice = current !== null && current !== ours;
  if (isPeoplesChoice || current === wanted) return true;
  try {
    await octokit.request('PATCH /repos/{owner}/{repo}/issues/{issue_number}', { ...issueRef, milestone: wanted });
    return true;
  } catch (error) {
    // Somebody deleted the milestone. The next comparison creates a new one.
    if (!isRefusedWith(error, 422)) throw error;
    return false;
  }
}

interface WantedMilestone {
  title: string;
  due_on: string;
  state: 'open' | 'closed';
}

function wantedOf(app: App, { name, endDay, status }: Pick<SprintView, 'name' | 'endDay' | 'status'>): WantedMilestone {
  return {
    title: harmlessLine(name, 200, app.config.COMMAND_PREFIX),
    // GitHub keeps only the day. Noon UTC is on the same day in nearly all time zones.
    due_on: `${endDay}T12:00:00Z`,
    state: status === 'active' ? 'open' : 'closed',
  };
}

/**
 * Finds or creates the milestone of a sprint in a repository. It may exist already if GitHub's response to an earlier
 * creation was lost. Of more than 1,000 milestones, those with the last days are read. GitHub refuses the title of another
 * one with 422.
 */
async function ensureMilestone(
  app: App,
  em: EntityManager,
  { octokit, name, repository }: Omit<Place, 'installationId'>,
  sprint: SprintView,
): Promise<number> {
  return app.db.withLock(`milestone ${repository.id}`, async () => {
    const known = await findMilestone(em, repository.id, sprint.id);
    if (known !== undefined) return known;
    const wanted = wantedOf(app, sprint);
    const description = `Sprint ${sprint.id}`;
    const list = { ...name, state: 'all', sort: 'due_on', direction: 'desc' } as const;
    const read = (page: object) => octokit.request('GET /repos/{owner}/{repo}/milestones', { ...list, ...page });
    const { items } = await listPages(async (page) => (await read(page)).data);
    const own = items.find((m) => m.description === description);
    // Titles are unique on GitHub. If people or another sprint use this title, the end of the sprint's id is appended.
    const isTaken = items.some((m) => m.title === wanted.title && m !== own);
    const title = isTaken ? `${wanted.title} (${sprint.id.slice(-6)})` : wanted.title;
    const path = 'POST /repos/{owner}/{repo}/milestones';
    const { number } = own ?? (await octokit.request(path, { ...name, ...wanted, title, description })).data;
    const shown = own === undefined ? JSON.stringify(wanted) : '';
    await insertMilestone(em, { repositoryId: repository.id, number, sprintId: sprint.id, shown });
    return number;
  });
}

/**
 * Updates a milestone. Returns false if that has to be tried again, because GitHub does not let us into the repository.
 * Changes by people are kept: they may have deleted the milestone, or given its new title to another one.
 */
async function updateMilestone(place: Place, milestone_number: number, wanted: Partial<WantedMilestone>) {
  const path = 'PATCH /repos/{owner}/{repo}/milestones/{milestone_number}';
  try {
    await place.octokit.request(path, { ...place.name, milestone_number, ...wanted });
    return true;
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    if (isRefusedWith(error, 403, 422)) return isRefusedWith(error, 422);
    const now = await readRepository(place);
    return now !== undefined && now.has_issues !== false;
  }
}

/** Handles the `milestones` job: updates every milestone from its sprint, and closes the milestones of deleted sprints. */
export async function syncMilestones(app: App, projectId: string): Promise<void> {
  const em = app.db.manager;
  await eachThenFail(await listMilestones(em, projectId), async ({ repositoryId, number, sprintId, shown }) => {
    const sprint = sprintId === null ? undefined : await findSprint(em, sprintId);
    const wanted = sprint === undefined ? { state: 'closed' as const } : wantedOf(app, sprint);
    if (JSON.stringify(wanted) === shown) return;
    const place = await placeOfRepository(app, repositoryId);
    if (place === undefined || place.repository.isArchived) return;
    if (!(await updateMilestone(place, number, wanted))) return;
    if (sprint === undefined) await deleteMilestone(em, repositoryId, number);
    else await markMilestoneShown(em, repositoryId, number, JSON.stringify(wanted));
  });
}
