import { useDeferredValue } from 'react';
import { Markdown } from '../display/markdown.tsx';
import { withTitle } from './part-text.ts';
import { partialJson } from './partial-json.ts';
import type { Arriving } from './use-generation.ts';

/** Shows a part of the plan while the model writes it. */
export function ArrivingPart({ arriving }: { arriving: Arriving }) {
  const { part, reading } = arriving;
  // Rendering may be slower than the model.
  const content = asObject(partialJson(useDeferredValue(arriving.json)));
  return (
    <>
      <p className="muted wrap" role="status">
        {arriving.json !== '' ? 'Writing…' : reading === '' ? 'Thinking…' : `Reading: ${reading}`}
      </p>
      {part === 'prd' && (
        <Markdown text={withTitle({ title: text(content.title), markdown: text(content.markdown) })} />
      )}
      {part !== 'prd' && (
        <ol aria-label="So far">
          {list(part === 'plan' ? content.phases : content.tasks).map((each, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows
            <li key={i}>
              <p className="strong wrap">{text(part === 'plan' ? each.name : each.title)}</p>
              <p className="muted wrap">{text(part === 'plan' ? each.goal : each.description)}</p>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

// The model may write anything.
const asObject = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown) => (Array.isArray(value) ? value.map(asObject) : []);
