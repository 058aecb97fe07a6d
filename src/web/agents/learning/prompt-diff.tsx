import { revealHidden } from '../../display/hidden-characters.ts';
import './learning.css';

const kinds: Record<string, { className: string; label: string }> = {
  '+': { className: 'diff-added', label: 'Added: ' },
  '-': { className: 'diff-removed', label: 'Removed: ' },
};

/** Shows a unified diff of two system prompts, without its file names. */
export function PromptDiff({ diff }: { diff: string }) {
  if (diff === '') return <p className="muted">The system prompt stays the same.</p>;
  const lines = diff
    .replace(/\n$/, '')
    .split('\n')
    .slice(2)
    .map((text, at) => ({ text, key: `${at}` }));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="prompt-diff" tabIndex={0} aria-label="Changes of the system prompt">
      {lines.map(({ text, key }) => {
        const kind = kinds[text.charAt(0)];
        return (
          <div key={key} className={`wrap ${kind?.className ?? (text.startsWith('@@') ? 'muted' : '')}`}>
            {kind !== undefined && <span className="sr-only">{kind.label}</span>}
            {revealHidden(text)}
          </div>
        );
      })}
    </section>
  );
}
