import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

interface Version {
  name: string;
  text: string;
}

/** Comparing two prompts takes at most this long. Beyond that, the diff replaces all lines. */
const diffMs = 500;

/** Returns how two versions of a prompt differ, as a patch. */
export function diffOf(before: Version, after: Version): string {
  const options = { context: 3, timeout: diffMs, headerOptions: FILE_HEADERS_ONLY };
  const [from, to, old, now] = [before.name, after.name, withEnd(before.text), withEnd(after.text)];
  return createTwoFilesPatch(from, to, old, now, undefined, undefined, options) ?? replaced(from, to, old, now);
}

/** Adds the final line break that most prompts lack. Without it, every diff would note that it is missing. */
function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function replaced(from: string, to: string, old: string, now: string): string {
  const lines = (text: string) => text.split('\n').slice(0, -1);
  const [removed, added] = [lines(old), lines(now)];
  return [
    `--- ${from}`,
    `+++ ${to}`,
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    '',
  ].join('\n');
}
