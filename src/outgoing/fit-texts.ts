import { trimEndOf } from '../domain/text/sanitize.ts';

/**
 * GitHub refuses longer titles, and longer texts of issues, pull requests and comments, in characters ("body is too long
 * (maximum is 65536 characters)"). It may count a character that JavaScript counts as two.
 */
const maxTitle = 255;
export const maxBody = 65_536;
/** The same for the output of a check run, in bytes (https://github.com/github/docs/issues/35252). */
const maxOutputBytes = 65_535;

const cutMark = '\n\n</details>\n\n… (cut)';

/** Cuts Markdown to at most `max` characters, with a mark. Closes the section that the cut may leave open. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : cutEnd(text.slice(0, max - cutMark.length).toWellFormed());
}

/**
 * Ends a text that was cut, and turns images in its last line into links. If the cut fell inside an image, a definition elsewhere in the text
 * could complete it with an address on any server, which GitHub fetches when somebody looks.
 */
function cutEnd(kept: string): string {
  const line = kept.lastIndexOf('\n') + 1;
  return kept.slice(0, line) + kept.slice(line).replace(/!(?=[![])/g, '') + cutMark;
}

function cutBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  const kept = Buffer.from(text).subarray(0, max - Buffer.byteLength(cutMark));
  // The last character may have been cut in the middle.
  return cutEnd(trimEndOf(kept.toString('utf8'), '\ufffd'));
}

type Parameters = Record<string, unknown>;

/** Returns the parameters of a request with texts that GitHub accepts. Cuts what is too long. */
function fitted(given: Parameters): Parameters {
  const { title, body, output } = given;
  const fits: Parameters = {};
  if (typeof title === 'string' && title.length > maxTitle)
    fits.title = `${title.slice(0, maxTitle - 1).toWellFormed()}…`;
  if (typeof body === 'string') fits.body = cutText(body, maxBody);
  if (typeof output === 'object' && output !== null) {
    const texts = Object.entries(output).filter(([, text]) => typeof text === 'string');
    fits.output = {
      ...output,
      ...Object.fromEntries(texts.map(([name, text]) => [name, cutBytes(text, maxOutputBytes)])),
    };
  }
  return fits;
}

interface Client {
  hook: { before(name: 'request', act: (given: Parameters) => void): void };
}

/** A plugin of Octokit: no request fails because one of its texts is too long. */
export function fittingTexts(octokit: Client): void {
  octokit.hook.before('request', (given) => void Object.assign(given, fitted(given)));
}
