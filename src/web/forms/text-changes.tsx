import './text-changes.css';
import { diffLines } from 'diff';
import { useMemo } from 'react';

/** How long a comparison may block the page. */
const compareMs = 500;
/** Unchanged lines that are shown before and after a change. */
const context = 3;

interface Piece {
  mark: '+' | '−' | ' ' | '…';
  text: string;
}

/** Shows the lines that differ between two versions of a text. */
export function TextChanges({ before, after, label }: { before: string; after: string; label: string }) {
  const pieces = useMemo(() => compare(before, after), [before, after]);
  if (pieces === undefined) return <p className="muted">The two versions are too different to compare.</p>;
  if (pieces.every(({ mark }) => mark === ' ' || mark === '…')) return <p className="muted">Nothing has changed.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="text-changes" tabIndex={0} aria-label={label}>
      {pieces.map(({ mark, text }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a comparison is replaced as a whole
        <Lines key={i} mark={mark} text={text} />
      ))}
    </section>
  );
}

function Lines({ mark, text }: Piece) {
  if (mark === '+') return <ins>{prefixed('+ ', text)}</ins>;
  if (mark === '−') return <del>{prefixed('− ', text)}</del>;
  return <span className="muted">{mark === '…' ? '…' : prefixed('  ', text)}</span>;
}

function prefixed(mark: string, text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line) => `${mark}${line}`).join('\n');
}

/** An empty text has no lines. */
const linesOf = (text: string) => (text === '' ? '' : `${text}\n`);

function compare(before: string, after: string): Piece[] | undefined {
  const found = diffLines(linesOf(before), linesOf(after), { timeout: compareMs });
  return found?.flatMap(({ added, removed, value }): Piece[] => {
    if (added) return [{ mark: '+', text: value }];
    if (removed) return [{ mark: '−', text: value }];
    const lines = value.replace(/\n$/, '').split('\n');
    if (lines.length <= 2 * context + 1) return [{ mark: ' ', text: value }];
    return [
      { mark: ' ', text: lines.slice(0, context).join('\n') },
      { mark: '…', text: '' },
      { mark: ' ', text: lines.slice(-context).join('\n') },
    ];
  });
}
