import type { EntityManager } from 'typeorm';
import { type Bind, filtered, newestFirst, type TaskPage, type TaskView, taskColumns } from './store.ts';

/** The statements that an administrator of the database runs if the migration was not permitted to. */
export const titleIndex =
  'create extension pg_trgm; ' +
  'create index tasks_title on tasks using gin (lower(title) gin_trgm_ops) with (fastupdate = off)';

/** Words shorter than this are not looked up in titles. Too many titles contain them, such as `the`. */
const usefulLength = 4;

/**
 * Returns a `like` pattern for the index: the longer words of the text in their order. Every title with the text matches
 * it, and so do some others.
 */
function titlePattern(text: string): string {
  const words = text.split(/\s+/).filter((word) => word.length >= usefulLength);
  return `%${(words.length > 0 ? words : [text]).map((part) => part.replace(/[\\%_]/g, '\\$&')).join('%')}%`;
}

/** White space and ASCII punctuation, at which the SQL function `words_of` splits descriptions. */
const betweenWords = /[\s!-/:-@[-^`{-~]+/;
/** ASCII white space and punctuation, at which the SQL function `search_words` splits titles. */
const betweenTitleWords = /[\t-\r -/:-@[-^`{-~]+/;
/** The length to which these functions cut words. */
const wordLength = 60;
/** The last word of a description may be incomplete from this length on. Fewer letters begin too many words. */
const partLength = 3;

/** A word of the index: in a description (`.`), in a title (`=`), or in a title and backwards (`<`). */
export interface IndexedWord {
  kind: '.' | '=' | '<';
  word: string;
  /** Whether longer words that begin with it match too. */
  isPart: boolean;
}

/**
 * Returns the words that a description must have: all words of the text, of which the last may be incomplete. Empty for a
 * text without words.
 */
function wordsInDescription(text: string): IndexedWord[] {
  const words = text.split(betweenWords).filter((word) => word !== '');
  return words.map((word, i) => ({ kind: '.', word, isPart: i === words.length - 1 && word.length >= partLength }));
}

/**
 * Returns words that every title with the text has: the text begins with the end of a word, and ends with the beginning of
 * one. Some titles without the text have them too. Empty if there are none that are useful, or if the text is one word,
 * which may be in the middle of another.
 */
function wordsInTitle(text: string): IndexedWord[] {
  const words = text.split(betweenTitleWords).filter((word) => word !== '');
  if (words.length === 1) return [];
  return words
    .map(
      (word, i): IndexedWord => ({
        kind: i === 0 ? '<' : '=',
        word,
        isPart: i === 0 || i === words.length - 1,
      }),
    )
    .filter(({ word }) => word.length >= usefulLength);
}

/** Returns SQL for a query of the index of `search_words`, whose words begin with a hash of their project. */
function indexQuery(projectId: string, words: IndexedWord[], bind: Bind): string {
  const mark = `to_hex(hashtext(${bind(projectId)}))`;
  const lexemes = words.map(({ kind, word, isPart }) => {
    const lower = `lower(${bind(word)})`;
    const letters = `left(${kind === '<' ? `reverse(${lower})` : lower}, ${wordLength})`;
    return `('''' || ${mark} || '${kind}' || ${letters} || '''${isPart ? ':*' : ''}')::tsquery`;
  });
  return lexemes.join(' && ');
}

/**
 * Returns a query for the words of a description, for use without the index; undefined for a text without words. It still
 * has to be converted to lower case in the database, by the same rules as the descriptions.
 */
function wordQuery(text: string): string | undefined {
  const lexemes = wordsInDescription(text).map(
    ({ word, isPart }) => `'${[...word].slice(0, wordLength).join('')}'${isPart ? ':*' : ''}`,
  );
  return lexemes.length === 0 ? undefined : lexemes.join(' & ');
}

/** Returns whether searching titles uses an index. It needs the extension pg_trgm, which some servers do not permit. */
export async function hasTitleIndex(em: EntityManager): Promise<boolean> {
  const [row]: [{ hasIndex: boolean }] = await em.query(`select to_regclass('tasks_title') is not null as "hasIndex"`);
  return row.hasIndex;
}

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
  const [row]: { at: Date }[] = await em.query(
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
