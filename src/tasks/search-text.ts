import type { EntityManager } from 'typeorm';
import type { Bind } from './store.ts';

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
export function titlePattern(text: string): string {
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
export function wordsInDescription(text: string): IndexedWord[] {
  const words = text.split(betweenWords).filter((word) => word !== '');
  return words.map((word, i) => ({ kind: '.', word, isPart: i === words.length - 1 && word.length >= partLength }));
}

/**
 * Returns words that every title with the text has: the text begins with the end of a word, and ends with the beginning of
 * one. Some titles without the text have them too. Empty if there are none that are useful, or if the text is one word,
 * which may be in the middle of another.
 */
export function wordsInTitle(text: string): IndexedWord[] {
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
export function indexQuery(projectId: string, words: IndexedWord[], bind: Bind): string {
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
export function wordQuery(text: string): string | undefined {
  const lexemes = wordsInDescription(text).map(
    ({ word, isPart }) => `'${[...word].slice(0, wordLength).join('')}'${isPart ? ':*' : ''}`,
  );
  return lexemes.length === 0 ? undefined : lexemes.join(' & ');
}

/** Returns whether searching titles uses an index. It needs the extension pg_trgm, which some servers do not permit. */
export async function hasTitleIndex(em: EntityManager): Promise<boolean> {
  const [row] = await em.query(`select to_regclass('tasks_title') is not null as "hasIndex"`);
  return row.hasIndex;
}
