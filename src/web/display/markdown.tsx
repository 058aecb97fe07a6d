import { Suspense } from 'react';
import { lazyPart } from '../live/load-part.ts';

// The libraries for Markdown are a fifth of the script of a page that needs them.
const FormattedText = lazyPart(async () => ({ default: (await import('./formatted-text.tsx')).FormattedText }));

/** Renders text from people and models: as it was written until the part that formats Markdown is loaded. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      <Suspense fallback={<div className="wrap">{text}</div>}>
        <FormattedText text={text} />
      </Suspense>
    </div>
  );
}
