import type { EntityManager } from 'typeorm';

/**
 * Returns GitHub's numbers of the active installations whose repositories a person may see: that of the project, and
 * those whose projects the person administers.
 */
export async function listVisibleInstallations(
  em: EntityManager,
  projectId: string,
  userId: string,
): Promise<number[]> {
  const rows: { id: number }[] = await em.query(
    `select i.installation_id::float8 as id from installations i
     where i.status = 'active' and (i.project_id = $1 or exists (
       select 1 from members m where m.project_id = i.project_id and m.user_id = $2 and m.role in ('admin', 'owner')))
     order by i.project_id = $1 desc, lower(i.account_login)`,
    [projectId, userId],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of the tasks of a repository's issues, by the number of the issue. */
export async function listTasksOfIssues(
  em: EntityManager,
  repositoryId: string,
  numbers: number[],
): Promise<Map<number, string>> {
  const rows: { number: number; id: string }[] = await em.query(
    'select issue_number as number, id from tasks where issue_repository_id = $1 and issue_number = any($2)',
    [repositoryId, numbers],
  );
  return new Map(rows.map(({ number, id }) => [number, id]));
}
