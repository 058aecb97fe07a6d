import type { EntityManager } from 'typeorm';
import { titlePattern, wordQuery } from './search-text.ts';
import { type Bind, filtered, newestFirst, type TaskPage, type TaskView, taskColumns } from './store.ts';

/**
 * Numbers of newest tasks that are read before the indexes are used. A text that is in 2 % of the first ones fills a page
 * of 100. If a fifth of the page is found, five times as many are read.
 */
const readFirst = 5000;
const readNext = 5 * readFirst;

/**
 * Returns the tasks of a project whose title contains the text, or whose description has all of its words: newest first,
 * one row more than the limit.
 *
 * PostgreSQL cannot find the newest matches with an index, and misjudges how rare an unknown word is. So the newest tasks
 * are read first, which is enough for common texts. All matches of a rarer text are looked up in the indexes and sorted.
 */
export async function searchTasks(
  em: EntityManager,
  projectId: string,
  text: string,
  by: TaskPage,
): Promise<TaskView[]> {
  let found = await searchNewest(em, projectId, text, by, readFirst);
  if (found.length <= by.limit && found.length > by.limit / 5)
    found = await searchNewest(em, projectId, text, by, readNext);
  return found.length > by.limit ? found : searchAll(em, projectId, text, by);
}

async function searchNewest(
  em: EntityManager,
  projectId: string,
  text: string,
  by: TaskPage,
  count: number,
): Promise<TaskView[]> {
  const { values, bind } = parametersOf(by);
  const newest = `select * from tasks t where ${filtered(projectId, by, bind)} ${newestFirst} limit ${count}`;
  const matching = `select * from (${newest}) t where ${matches(projectId, text, bind)} ${newestFirst} limit $1 offset $2`;
  return em.query(`select ${taskColumns} from (${matching}) t ${newestFirst}`, values);
}

async function searchAll(em: EntityManager, projectId: string, text: string, by: TaskPage): Promise<TaskView[]> {
  const { values, bind } = parametersOf(by);
  const where = `${filtered(projectId, by, bind)} and ${matches(projectId, text, bind)}`;
  // Without a limit here, PostgreSQL does not read tasks in their order in the hope of finding enough of them soon.
  return em.query(
    `with found as materialized (select t.id, t.created_at from tasks t where ${where})
     select ${taskColumns} from (select t.id from found t ${newestFirst} limit $1 offset $2) page
     join tasks t on t.id = page.id ${newestFirst}`,
    values,
  );
}

function parametersOf(by: TaskPage): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [by.limit + 1, by.offset];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** Returns an SQL condition: the title contains the text, or the description all of its words. */
function matches(projectId: string, text: string, bind: Bind): string {
  const inTitle = `lower(t.title) like lower(${bind(titlePattern(text))}) and position(lower(${bind(text)}) in lower(t.title)) <> 0`;
  const words = wordQuery(projectId, text);
  return words === undefined ? `(${inTitle})` : `(${inTitle} or t.words @@ lower(${bind(words)})::tsquery)`;
}
