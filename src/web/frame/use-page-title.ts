import { useEffect } from 'react';

/** The title of the browser's tab, the most particular word first. */
export function useTitle(...words: (string | undefined)[]): void {
  const title = [...words.filter(Boolean), 'Deckhand'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
