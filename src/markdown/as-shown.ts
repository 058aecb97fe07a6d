import { visible } from '../domain/text/sanitize.ts';
import { apart } from '../threads/apart.ts';
import { NoAnswer } from '../threads/start-thread.ts';

const seconds = 3;
const markdown = apart<typeof import('./shown-text.ts')>(new URL('./shown-text.ts', import.meta.url), {
  seconds,
  heapMb: 256,
});

/** Without any of these, all of a text is shown. */
const marks = /[<|`~]|\]\(|\]:|\]\[|!\[/;

/** GitHub's limit for comments and the bodies of issues, in characters. */
const maxChars = 65_536;

const leftOut =
  '(This text is left out here, because its Markdown takes too long to read, or is too complex. Make it simpler.)';

/** Several texts may take this much processor time together. Of those that follow, only texts without any marks are shown. */
const maxMs = 6000;

/** Returns `asShown` for many texts, which many people may have written: together they take seconds, not minutes. */
export function showMany(): (text: string) => Promise<string> {
  let spent = 0;
  return async (text) => {
    if (spent >= maxMs && marks.test(text)) return leftOut;
    const { shown, ms } = await showInTime(text);
    spent += ms;
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
  return (await showInTime(text)).shown;
}

async function showInTime(text: string): Promise<{ shown: string; ms: number }> {
  if (!marks.test(text)) return { shown: visible(text), ms: 0 };
  if (text.length > maxChars) return { shown: leftOut, ms: 0 };
  const { shown, ms } = await markdown.call('shownInTime', text).catch((error) => {
    if (error instanceof NoAnswer) throw error;
    return { shown: leftOut, ms: seconds * 1000 };
  });
  return { shown: visible(shown), ms };
}
