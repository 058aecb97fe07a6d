import { visible } from '../domain/text/sanitize.ts';
import { apart } from './apart.ts';
import { NoAnswer } from './start-thread.ts';

const markdown = apart<typeof import('../domain/text/shown-text.ts')>(
  new URL('../domain/text/shown-text.ts', import.meta.url),
  { seconds: 3, heapMb: 256 },
);

/** Without any of these, all of a text is shown. */
const marks = /[<|`~]|\]\(|\]:|\]\[|!\[/;

/** GitHub's limit for comments and the bodies of issues, in characters. */
const maxChars = 65_536;

const leftOut = '(This text is left out here, because its Markdown takes too long to read. Make it simpler.)';

/** Of several texts, at most this many may be too slow. Of those that follow, only texts without any marks are shown. */
const maxSlow = 3;

/** Returns `asShown` for many texts, which many people may have written: together they take seconds, not minutes. */
export function showMany(): (text: string) => Promise<string> {
  let slow = 0;
  return async (text) => {
    if (slow >= maxSlow && marks.test(text)) return leftOut;
    const shown = await asShown(text);
    if (shown === leftOut) slow += 1;
    return shown;
  };
}

/**
 * Returns Markdown from GitHub as readers of the page see it: without what GitHub does not show (see `shownText`), invisible
 * characters, and characters that change the direction of text. Anything hidden from those readers must not reach a model as an
 * instruction. A text that takes more than three seconds of processor time is replaced by a sentence that says so.
 * @throws NoAnswer
 */
export async function asShown(text: string): Promise<string> {
  if (!marks.test(text)) return visible(text);
  if (text.length > maxChars) return leftOut;
  const shown = await markdown.call('shownText', text).catch((error) => {
    if (error instanceof NoAnswer) throw error;
    return leftOut;
  });
  return visible(shown);
}
