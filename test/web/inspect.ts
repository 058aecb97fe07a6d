import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns the violations that axe finds on the page, one per line. */
async function violations(on: Page): Promise<string[]> {
  if (!(await on.evaluate('"axe" in window'))) await on.evaluate(axe);
  const found = await on.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 150)).join(" | ")))',
  );
  return found as string[];
}

/** Finds hostile input that was rendered instead of shown as text: scripts, frames, images and links with other schemes. */
const alive = `[
  window.hit,
  ...document.querySelectorAll('#root script, #root iframe, #root img[src=x]'),
  ...[...document.querySelectorAll('a')].filter((a) => !/^(https?:|\\/|#|\\?|$)/.test(a.getAttribute('href') ?? '')),
].filter((each) => each !== undefined).map((each) => each.outerHTML ?? String(each))`;

/** What is wrong with the pages. */
export interface Seen {
  violations: string[];
  tooWide: string[];
  alive: string[];
}

/** Adds what is wrong with the page to `seen`. */
export async function inspect(page: Page, name: string, seen: Seen, withAxe: boolean): Promise<void> {
  if (withAxe) for (const each of await violations(page)) seen.violations.push(`${name}: ${each}`);
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'));
  if (overflow > 0) seen.tooWide.push(`${name}: ${overflow} px too wide`);
  for (const each of (await page.evaluate(alive)) as string[]) seen.alive.push(`${name}: ${each}`);
}
