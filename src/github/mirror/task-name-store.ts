import type { EntityManager } from 'typeorm';

/** Returns the titles and issues of tasks of a project. */
export async function listTaskNames(
  em: EntityManager,
  projectId: string,
  ids: string[],
): Promise<{ id: string; title: string; issueRepositoryId: string | null; issueNumber: number | null }[]> {
  return em.query(
    `select id, title, issue_repository_id as "issueRepositoryId", issue_number as "issueNumber"
     from tasks where project_id = $1 and id = any($2)`,
    [projectId, ids],
  );
}
