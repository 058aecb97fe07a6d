import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { harmlessLine } from '../../domain/text/quoted.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { findSprint, type SprintView } from '../../sprints/store.ts';
import type { TaskView } from '../../tasks/store.ts';
import { type Place, placeOfRepository } from '../place.ts';
import type { Mirrored } from './mirror-store.ts';

/** Keeps the milestone of a task's issue equal to the task's sprint; one that people chose themselves stays. */
export async function syncMilestone(
  app: App,
  em: EntityManager,
  { octokit, name, repository }: Omit<Place, 'installationId'>,
  task: TaskView,
  place: Mirrored,
): Promise<void> {
  if (task.issueNumber !== place.number || task.issueRepositoryId !== repository.id) return;
  const sprint = task.sprintId === null ? undefined : await findSprint(em, task.sprintId);
  const isShown = sprint !== undefined && sprint.status !== 'planning';
  const wanted = isShown ? await ensureMilestone(app, em, { octokit, name, repository }, sprint) : null;
  if (wanted === place.milestone) return;
  const at = { ...name, issue_number: place.number };
  const { data: issue } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', at);
  const there = issue.milestone?.number ?? null;
  const isTheirs = there !== null && there !== place.milestone && there !== wanted;
  if (!isTheirs && there !== wanted)
    try {
      await octokit.request('PATCH /repos/{owner}/{repo}/issues/{issue_number}', { ...at, milestone: wanted });
    } catch (error) {
      // Somebody deleted the milestone; at the next look there is a new one.
      if (!isRefusedWith(error, 422)) throw error;
      await em.query('delete from sprint_milestones where repository_id = $1 and number = $2', [repository.id, wanted]);
      return;
    }
  await em.query('update mirrored set milestone = $3 where repository_id = $1 and number = $2', [
    place.repositoryId,
    place.number,
    wanted,
  ]);
}

interface WantedMilestone {
  title: string;
  due_on: string;
  state: 'open' | 'closed';
}

function wantedOf(app: App, { name, endDay, status }: Pick<SprintView, 'name' | 'endDay' | 'status'>): WantedMilestone {
  return {
    title: harmlessLine(name, 200, app.config.COMMAND_PREFIX),
    // GitHub keeps the day only; noon is that day everywhere.
    due_on: `${endDay}T12:00:00Z`,
    state: status === 'active' ? 'open' : 'closed',
  };
}

/** The milestone of a sprint in a repository, made when it is missing; looked up first, because an answer may get lost. */
async function ensureMilestone(
  app: App,
  em: EntityManager,
  { octokit, name, repository }: Omit<Place, 'installationId'>,
  sprint: SprintView,
): Promise<number> {
  return app.db.turn(`milestone ${repository.id}`, async () => {
    const [known]: { number: number }[] = await em.query(
      'select number from sprint_milestones where sprint_id = $1 and repository_id = $2',
      [sprint.id, repository.id],
    );
    if (known !== undefined) return known.number;
    const wanted = wantedOf(app, sprint);
    const description = `Sprint ${sprint.id}`;
    const list = { ...name, state: 'all', per_page: 100 } as const;
    const all = await octokit.paginate('GET /repos/{owner}/{repo}/milestones', list);
    const own = all.find((m) => m.description === description);
    // GitHub has each title once; one that people or another sprint use gets the sprint's number behind it.
    const isTaken = all.some((m) => m.title === wanted.title && m !== own);
    const title = isTaken ? `${wanted.title} (${sprint.id.slice(-6)})` : wanted.title;
    const path = 'POST /repos/{owner}/{repo}/milestones';
    const { number } = own ?? (await octokit.request(path, { ...name, ...wanted, title, description })).data;
    await em.query('insert into sprint_milestones (repository_id, number, sprint_id, shown) values ($1, $2, $3, $4)', [
      repository.id,
      number,
      sprint.id,
      own === undefined ? JSON.stringify(wanted) : '',
    ]);
    return number;
  });
}

/** Makes every milestone say what its sprint is now, and closes those of sprints that were deleted. */
export async function syncMilestones(app: App): Promise<void> {
  const em = app.db.manager;
  const rows: { repositoryId: string; number: number; sprintId: string | null; shown: string }[] = await em.query(
    'select repository_id as "repositoryId", number, sprint_id as "sprintId", shown from sprint_milestones',
  );
  for (const { repositoryId, number, sprintId, shown } of rows) {
    const sprint = sprintId === null ? undefined : await findSprint(em, sprintId);
    const wanted = sprint === undefined ? { state: 'closed' as const } : wantedOf(app, sprint);
    if (JSON.stringify(wanted) === shown) continue;
    const place = await placeOfRepository(app, repositoryId);
    if (place === undefined) continue;
    const path = 'PATCH /repos/{owner}/{repo}/milestones/{milestone_number}';
    await place.octokit.request(path, { ...place.name, milestone_number: number, ...wanted }).catch((error) => {
      // Deleted, or renamed to what another one is called: people have their own mind about it.
      if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    });
    if (sprint === undefined)
      await em.query('delete from sprint_milestones where repository_id = $1 and number = $2', [repositoryId, number]);
    else
      await em.query('update sprint_milestones set shown = $3 where repository_id = $1 and number = $2', [
        repositoryId,
        number,
        JSON.stringify(wanted),
      ]);
  }
}
