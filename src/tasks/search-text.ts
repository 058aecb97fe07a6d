import type { EntityManager } from 'typeorm';

/** The statements that an administrator of the database runs if the migration was not permitted to. */
export const titleIndex =
  'create extension pg_trgm; ' +
  'create index tasks_title on tasks using gin (lower(title) gin_trgm_ops) with (fastupdate = off)';

/** Only words of at least this length are looked up in the index. Shorter ones, such as `the`, are in too many titles. */
const usefulLength = 4;

/**
 * Returns a `like` pattern for the index: the longer words of the text in their order. Every title with the text matches
 * it, and so do some others.
 */
export function titlePattern(text: string): string {
  const words = text.split(/\s+/).filter((word) => word.length >= usefulLength);
  return `%${(words.length > 0 ? words : [text]).map((part) => part.replace(/[\\%_]/g, '\\$&')).join('%')}%`;
}

/** White space and ASCII punctuation, at which the SQL function `words_of` splits descriptions. */
const betweenWords = /[\s!-/:-@[-^`{-~]+/;
/** The length to which that function cuts words. */
const wordLength = 60;
/** The last word may be incomplete from this length on. Fewer letters begin too many words. */
const prefixLength = 3;

/**
 * Returns a query for the words of the descriptions of a project: all words of the text, of which the last may be
 * incomplete. Undefined for a text without words. The query still has to be converted to lower case in the database, by
 * the same rules as the descriptions.
 */
export function wordQuery(projectId: string, text: string): string | undefined {
  const words = text.split(betweenWords).filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const lexemes = words.map((word, i) => {
    const isPrefix = i === words.length - 1 && word.length >= prefixLength;
    return `'${[...word].slice(0, wordLength).join('')}'${isPrefix ? ':*' : ''}`;
  });
  return [`'/${projectId.replace(/['\\]/g, '')}'`, ...lexemes].join(' & ');
}

/** Returns whether searching titles uses an index. It needs the extension pg_trgm, which some servers do not permit. */
export async function hasTitleIndex(em: EntityManager): Promise<boolean> {
  const [row] = await em.query(`select to_regclass('tasks_title') is not null as "hasIndex"`);
  return row.hasIndex;
}
