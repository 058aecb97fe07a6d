/** The scores of a match at the beginning of the text, at the beginning of a word, elsewhere, and of scattered letters. */
const [atStart, atWord, anywhere, scattered] = [8, 4, 2, 1];

/**
 * Returns how well a text matches a search: 0 if it does not. The text must contain each word of the search, in any order,
 * or at least the letters of each word in their order within one of its words. Matches at the beginning of the text or of a word count more.
 */
export function scoreOf(search: string, text: string): number {
  const lower = text.toLowerCase();
  const scores = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => scoreOfWord(word, lower));
  if (scores.length === 0) return 1;
  const least = Math.min(...scores);
  // A text is as good as its worst word if that is not at the beginning of a word.
  return least <= anywhere ? least : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function scoreOfWord(word: string, text: string): number {
  const at = text.indexOf(word);
  if (at === 0) return atStart;
  if (at > 0) return isWordAt(word, text) ? atWord : anywhere;
  // Scattered letters of one or two characters match almost everything, and so do those of several words.
  return word.length > 2 && text.split(/\s+/).some((each) => hasInOrder(word, each)) ? scattered : 0;
}

function isWordAt(word: string, text: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return true;
  return false;
}

function hasInOrder(word: string, text: string): boolean {
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Something that the palette offers. */
interface Ranked {
  id: string;
  text: string;
  /** Other words by which people look for it. */
  words?: string;
  /** It was found by other means than its text, for example by the description of a task. */
  isFound?: boolean;
}

/** Returns how well the other words of an item match. Only their beginnings count, and its text counts more. */
function scoreOfOthers(search: string, { words }: Ranked): number {
  const score = words === undefined || search.trim() === '' ? 0 : scoreOf(search, words);
  return score > anywhere ? atWord - 1 : 0;
}

/**
 * Returns the items that match a search, the best first; of equally good ones, those that were used last come first. Matches
 * within words are left out if there are better ones. Without a search, returns what was used last, then the others in their
 * order.
 */
export function rank<T extends Ranked>(search: string, items: T[], recentIds: string[], limit: number): T[] {
  const recency = new Map(recentIds.map((id, i) => [id, i]));
  const scored = items.map((item, i) => ({
    item,
    score: Math.max(scoreOf(search, item.text), scoreOfOthers(search, item)) || (item.isFound ? scattered / 2 : 0),
    recent: recency.get(item.id) ?? recentIds.length,
    i,
  }));
  const least = scored.some(({ score }) => score > anywhere) ? anywhere : 0;
  return scored
    .filter(({ score, item }) => score > least || item.isFound)
    .sort((a, b) => b.score - a.score || a.recent - b.recent || a.i - b.i)
    .slice(0, limit)
    .map(({ item }) => item);
}
