import type { EntityManager } from 'typeorm';
import {
  type IndexedWord,
  indexQuery,
  titlePattern,
  wordQuery,
  wordsInDescription,
  wordsInTitle,
} from './search-text.ts';
import { type Bind, filtered, newestFirst, type TaskPage, type TaskView, taskColumns } from './store.ts';

/**
 * The search first reads this many of the newest tasks without an index. A text that 2 % of them contain fills a page of
 * 100. If the matches fill only a fifth of the page, the search then uses the indexes for five times as many tasks.
 */
const readFirst = 5000;
const lookUpFirst = 5 * readFirst;

/**
 * Returns the tasks of a project whose title contains the text, or whose description has all of its words: newest first,
 * one row more than the limit.
 *
 * PostgreSQL cannot find the newest matches with an index, and misjudges how rare an unknown word is. So the newest tasks
 * are read first, which is enough for common texts. The matches of a rarer text are looked up in the indexes and sorted:
 * at first only those among the newest tasks, if that will probably do.
 */
export async function searchTasks(
  em: EntityManager,
  projectId: string,
  text: string,
  by: TaskPage,
): Promise<TaskView[]> {
  const read = await searchNewest(em, projectId, text, by);
  if (read.length > by.limit) return read;
  const since = read.length > by.limit / 5 ? await findTime(em, projectId, by) : undefined;
  const recent = since === undefined ? [] : await lookUp(em, projectId, text, by, since);
  return recent.length > by.limit ? recent : lookUp(em, projectId, text, by);
}

/** Searches the newest tasks without an index. */
async function searchNewest(em: EntityManager, projectId: string, text: string, by: TaskPage): Promise<TaskView[]> {
  const { values, bind } = parametersOf(by);
  const newest = `select * from tasks t where ${filtered(projectId, by, bind)} ${newestFirst} limit ${readFirst}`;
  const words = wordQuery(text);
  const inDescription = words === undefined ? 'false' : `t.words @@ lower(${bind(words)})::tsquery`;
  const matching = `select * from (${newest}) t where ${inTitle(text, bind)} or ${inDescription} ${newestFirst} limit $1 offset $2`;
  return em.query(`select ${taskColumns} from (${matching}) t ${newestFirst}`, values);
}

/** Returns when the oldest of the newest `lookUpFirst` tasks was created; undefined if there are fewer. */
async function findTime(em: EntityManager, projectId: string, by: TaskPage): Promise<Date | undefined> {
  const values: unknown[] = [];
  const where = filtered(projectId, by, (value) => `$${values.push(value)}`);
  const [row] = await em.query(
    `select created_at as at from tasks t where ${where} ${newestFirst} limit 1 offset ${lookUpFirst - 1}`,
    values,
  );
  return row?.at;
}

/** Searches with the indexes: all tasks, or those that were created since a time. */
async function lookUp(
  em: EntityManager,
  projectId: string,
  text: string,
  by: TaskPage,
  since?: Date,
): Promise<TaskView[]> {
  const { values, bind } = parametersOf(by);
  const isRecent = () => (since === undefined ? [] : [`t.created_at >= ${bind(since)}`]);
  const found = (conditions: string[], tasks = 'tasks') =>
    `select t.id, t.created_at from ${tasks} t where ${[filtered(projectId, by, bind), ...conditions].join(' and ')}`;
  // The index finds the tasks of the project. Intersecting it with one of all tasks of the project would cost more.
  const withWords = (words: IndexedWord[], conditions: string[]) => {
    const indexed = `search_words(t.project_id, t.title, t.words) @@ (${indexQuery(projectId, words, bind)})`;
    const recent = isRecent().map((condition) => `${condition} and t.project_id = ${bind(projectId)}`);
    return found(conditions, `(select * from tasks t where ${[indexed, ...recent].join(' and ')} offset 0)`);
  };
  const [titleWords, descriptionWords] = [wordsInTitle(text), wordsInDescription(text)];
  const matches = [
    titleWords.length === 0
      ? found([inTitle(text, bind), ...isRecent()])
      : withWords(titleWords, [contains(text, bind)]),
    ...(descriptionWords.length === 0 ? [] : [withWords(descriptionWords, [])]),
  ];
  // Without a limit here, PostgreSQL does not read tasks in their order in the hope of finding enough of them soon.
  return em.query(
    `with found as materialized (${matches.join(' union ')})
     select ${taskColumns} from (select t.id from found t ${newestFirst} limit $1 offset $2) page
     join tasks t on t.id = page.id ${newestFirst}`,
    values,
  );
}

function parametersOf(by: TaskPage): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [by.limit + 1, by.offset];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** Returns an SQL condition: the title contains the text. Its first part is for the index. */
function inTitle(text: string, bind: Bind): string {
  return `lower(t.title) like lower(${bind(titlePattern(text))}) and ${contains(text, bind)}`;
}

function contains(text: string, bind: Bind): string {
  return `position(lower(${bind(text)}) in lower(t.title)) <> 0`;
}
