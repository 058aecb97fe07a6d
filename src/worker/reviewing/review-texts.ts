import { markedProof, type Proof } from '../../domain/proof/proof.ts';
import type { Severity } from '../../domain/reviewing/choose-comments.ts';
import {
  closedBlocks,
  harmless,
  harmlessLine,
  harmlessText,
  oneLine,
  visible,
  withoutSuggestions,
} from '../../domain/text/sanitize.ts';
import type { ReviewNote } from '../../runs/reviewing/store.ts';
import type { TriedChecks } from './try-checks.ts';

/** The first line of a review of ours. We find it again by this line and its author. */
export const reviewMarker = (runId: string) => `<!-- deckhand:review ${runId} -->`;

/** The first line of a comment of ours on a line. It names the comment as we keep it. */
export const noteMarker = (id: string) => `<!-- deckhand:note ${id} -->`;

const severityTexts: Record<Severity, string> = {
  critical: '🔴 **Critical**',
  major: '🟠 **Major**',
  minor: '🔵 **Minor**',
};

/** What a model wrote, as people see it. It offers nothing to apply, because only what was tried may do that. */
function saidBy(text: string, prefix: string): string {
  return withoutSuggestions(harmless(text, prefix));
}

/** Renders a comment on a line. */
export function noteText({ id, severity, text, suggestion }: ReviewNote, prefix: string): string {
  const said = closedBlocks(saidBy(text, prefix));
  const parts = [noteMarker(id), `${severityTexts[severity]}: ${said}`];
  if (suggestion !== null) parts.push(suggestionBlock(suggestion));
  return parts.join('\n');
}

/** Renders a comment on a line for a review that cannot show the line. The name of a file may have line breaks. */
export function quotedNote({ path, line, severity, text }: ReviewNote, prefix: string): string[] {
  const place = `\`${oneLine(visible(path), 300).replaceAll('`', "'")}:${line}\``;
  const lines = saidBy(text, prefix).split('\n');
  return ['', `${place} (${severity}):`, '', ...lines.map((each) => `> ${each}`)];
}

/** Renders a block that GitHub offers to apply. Its fence is longer than any in the code, which stays as it is. */
function suggestionBlock(code: string): string {
  let longest = 2;
  for (const [ticks] of code.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}suggestion\n${code.replace(/\r?\n$/, '')}\n${fence}`;
}

/** What the summary of a review says. */
export interface Summary {
  headSha: string;
  summary: string;
  comments: number;
  tried: TriedChecks;
  proof: Proof;
  /** The number of this review, from 1. */
  round: number;
  page: string;
}

/** Renders the summary without its marker. */
export function summaryText(
  { headSha, summary, comments, tried, proof, round, page }: Summary,
  prefix: string,
): string {
  const again = round > 1 ? `Review ${round}, of what is new since the last one. ` : '';
  const count =
    comments === 0 ? 'No comments on lines.' : `${comments} ${comments === 1 ? 'comment' : 'comments'} on lines.`;
  return [
    `### Review of ${headSha.slice(0, 7)}`,
    withoutSuggestions(harmlessText(summary, 8000, prefix)),
    `${again}${count}`,
    checksLine(tried),
    harmlessLine(markedProof(proof), 2000, prefix),
    `---\n[Log](${page}) · Resolve a comment or give it a 👎 if it was not useful; later reviews take that into account.`,
  ].join('\n\n');
}

function checksLine(tried: TriedChecks): string {
  if ('why' in tried) return `Checks were not tried: ${oneLine(tried.why.replaceAll('`', "'"), 300)}.`;
  if (tried.checks.length === 0) return 'Checks were not tried: there are none.';
  return tried.checks
    .map(
      ({ command, passed, seconds }) =>
        `- ${passed ? '✅' : '❌'} \`${command.replace(/[`\s]+/g, ' ').slice(0, 200)}\` (${seconds} s)`,
    )
    .join('\n');
}
