import { readFileSync } from 'node:fs';

type Part =
  | 'working-rules'
  | 'shell'
  | 'no-shell'
  | 'data'
  | 'summary'
  | 'handoff'
  | 'first-finish'
  | 'plan-always'
  | 'plan-large';

/** Reads one part of the prompts, from the Markdown file of that name in this folder. */
export function part(name: Part): string {
  return readFileSync(new URL(`./${name}.md`, import.meta.url), 'utf8').trim();
}
