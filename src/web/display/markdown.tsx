import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

const components: Components = {
  // Where a link from people or models leads is theirs to say, and nobody else's to vouch for.
  a: ({ href, children }) =>
    href === undefined || href === '' ? (
      <span>{children}</span>
    ) : (
      <a href={href} rel="noopener nofollow" target="_blank">
        {children}
      </a>
    ),
  // An image would tell its server who looks; it is shown as a link.
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

/** Only http and https lead anywhere. */
function safeAddress(url: string): string {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol) ? url : '';
  } catch {
    return '';
  }
}

/** Text of people and models as Markdown: HTML in it stays text. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} urlTransform={safeAddress} skipHtml={false}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
