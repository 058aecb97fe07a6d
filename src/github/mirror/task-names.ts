import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { harmlessLine } from '../../domain/text/sanitize.ts';

/** Returns the titles and issues of tasks of a project. */
async function listTaskNames(
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

/** Not within an address: a title in place of the id would break the link or the image. */
const taskIds = /(?<![\w./-])task_[0-9a-z]{26}\b/g;
/** Tasks whose names are looked up for one text. */
const maxNames = 100;

/**
 * Finds how to call the tasks that a text mentions by id: `#12` for an issue in the repository that shows the text, the
 * title otherwise. A public repository does not show the titles of other tasks, which may be private.
 */
export async function findTaskNames(
  app: App,
  projectId: string,
  shownIn: Pick<RepositoryRow, 'id' | 'isPrivate'>,
  text: string,
): Promise<Map<string, string>> {
  const ids = [...new Set(text.match(taskIds) ?? [])].slice(0, maxNames);
  if (ids.length === 0) return new Map();
  const rows = await listTaskNames(app.db.manager, projectId, ids);
  return new Map(
    rows.map(({ id, title, issueRepositoryId, issueNumber }) => {
      if (issueNumber !== null && issueRepositoryId === shownIn.id) return [id, `#${issueNumber}`];
      const shown = shownIn.isPrivate ? `“${harmlessLine(title, 100, app.config.COMMAND_PREFIX)}”` : 'another task';
      return [id, shown];
    }),
  );
}

export function withTaskNames(text: string, names: Map<string, string>): string {
  return text.replace(taskIds, (id) => names.get(id) ?? id);
}
