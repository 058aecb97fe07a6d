import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { isCostlyMarkdown } from '../../domain/text/costly-markdown.ts';

const components: Components = {
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

/** Returns the URL if it is http or https, otherwise an empty string. */
function safeAddress(url: string): string {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol) ? url : '';
  } catch {
    return '';
  }
}

/** Renders Markdown. HTML in it is shown as text, and a text that would take long is shown as it was written. */
export function FormattedText({ text }: { text: string }) {
  if (isCostlyMarkdown(text))
    return (
      <>
        <p className="muted">Shown as it was written, because formatting it would take too long.</p>
        <div className="wrap">{text}</div>
      </>
    );
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} urlTransform={safeAddress} skipHtml={false}>
      {text}
    </ReactMarkdown>
  );
}
