import { useEffect } from 'react';

/** Sets the title of the browser tab, the most specific part first. */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), 'Deckhand'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
