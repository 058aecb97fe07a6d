import type { EntityManager } from 'typeorm';

/** A milestone on GitHub that shows a sprint. */
export interface Milestone {
  repositoryId: string;
  number: number;
  /** Null once the sprint is deleted. */
  sprintId: string | null;
  /** What we last sent to GitHub, as JSON; empty when unknown. */
  shown: string;
}

export async function listMilestones(em: EntityManager): Promise<Milestone[]> {
  return em.query(
    'select repository_id as "repositoryId", number, sprint_id as "sprintId", shown from sprint_milestones',
  );
}

/** Finds the number of the milestone that shows a sprint in a repository. */
export async function findMilestone(
  em: EntityManager,
  repositoryId: string,
  sprintId: string,
): Promise<number | undefined> {
  const rows: { number: number }[] = await em.query(
    'select number from sprint_milestones where sprint_id = $1 and repository_id = $2',
    [sprintId, repositoryId],
  );
  return rows[0]?.number;
}

export async function insertMilestone(em: EntityManager, milestone: Milestone): Promise<void> {
  await em.query('insert into sprint_milestones (repository_id, number, sprint_id, shown) values ($1, $2, $3, $4)', [
    milestone.repositoryId,
    milestone.number,
    milestone.sprintId,
    milestone.shown,
  ]);
}

export async function markMilestoneShown(
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

export async function deleteMilestone(em: EntityManager, repositoryId: string, number: number): Promise<void> {
  await em.query('delete from sprint_milestones where repository_id = $1 and number = $2', [repositoryId, number]);
}
