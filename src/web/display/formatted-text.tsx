import { type Components, toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { memo, useEffect, useMemo, useReducer, useRef } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import { openFormatter } from '../markdown/formatter.ts';
import { type Formatted, parse } from '../markdown/parse.ts';

const components: Partial<Components> = {
  // Links come from people and models, so `rel` tells search engines that the dashboard does not endorse them.
  a: ({ href, children }) =>
    href === undefined || href === '' ? (
      <span>{children}</span>
    ) : (
      <a href={href} rel="noopener nofollow" target="_blank">
        {children}
      </a>
    ),
  // Loading an image would tell its server who is reading, so images are shown as links.
  img: ({ src, alt }) =>
    typeof src === 'string' && src !== '' ? (
      <a href={src} rel="noopener nofollow" target="_blank">
        {alt || src}
      </a>
    ) : (
      <span>{alt}</span>
    ),
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
};

/** Characters of a text that the page parses itself, so that it does not flash. The slowest texts found take 20 ms. */
const maxShort = 300;

const formatter = openFormatter((said, failed) => {
  const worker = new Worker(new URL('../markdown/worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => said(data);
  worker.onerror = failed;
  return worker;
});

/** Renders Markdown. HTML in it is shown as text, and a text that would take long is shown as it was written. */
export function FormattedText({ text }: { text: string }) {
  const formatted = useFormatted(text);
  if (typeof formatted === 'object') return <Elements of={formatted} />;
  return (
    <>
      {formatted === 'costly' && (
        <p className="muted">Shown as it was written, because formatting it would take too long.</p>
      )}
      <div className="wrap">{text}</div>
    </>
  );
}

/** Creates the elements once, although a page renders more often. */
const Elements = memo(({ of: tree }: { of: Exclude<Formatted, string> }) =>
  toJsxRuntime(tree, { Fragment, jsx, jsxs, components }),
);

/** Returns what a text has become: undefined while it waits. A text that grows stays formatted as far as it was. */
function useFormatted(text: string): Formatted | undefined {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const last = useRef<{ text: string; formatted: Formatted }>(undefined);
  const isShort = text.length <= maxShort;
  const short = useMemo(() => (isShort ? parse(text) : undefined), [isShort, text]);
  const known = short ?? formatter.known(text);
  if (known !== undefined) last.current = { text, formatted: known };
  useEffect(() => {
    if (isShort || formatter.known(text) !== undefined) return;
    return formatter.format(text, (formatted) => {
      last.current = { text, formatted };
      render();
    });
  }, [isShort, text]);
  return last.current !== undefined && text.startsWith(last.current.text) ? last.current.formatted : undefined;
}
