import { useEffect, useState } from 'react';

/** How long to wait after the last keystroke before something is searched. */
const typingPauseMs = 150;

/** Returns a text as it was when typing last paused. */
export function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
