import { useEffect, useRef } from 'react';

/** The box keeps scrolling to new lines while its end is at most this many pixels away. */
const followPixels = 40;

/** Shows text of several lines in a box that scrolls. With `follows` it stays at the end of text that grows. */
export function TextBox({ text, label, follows = false }: { text: string; label: string; follows?: boolean }) {
  const element = useRef<HTMLElement>(null);
  const isAtEnd = useRef(follows);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text makes the box longer
  useEffect(() => {
    if (isAtEnd.current && element.current) element.current.scrollTop = element.current.scrollHeight;
  }, [text]);
  return (
    <section
      ref={element}
      className="text-box"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = follows && scrollHeight - scrollTop - clientHeight < followPixels;
      }}
    >
      <pre className="wrap">{text}</pre>
    </section>
  );
}
