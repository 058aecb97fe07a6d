import { useSyncExternalStore } from 'react';

/** The width below which the style sheets use the layout for phones. */
const narrow = '(max-width: 767px)';

function subscribe(onChange: () => void): () => void {
  const query = window.matchMedia(narrow);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

/** Whether the page is as narrow as on a phone. */
export const useIsNarrow = () => useSyncExternalStore(subscribe, () => window.matchMedia(narrow).matches);
