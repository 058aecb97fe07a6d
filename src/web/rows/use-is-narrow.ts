import { useSyncExternalStore } from 'react';

/** Where the styles begin those of phones. */
const narrow = '(max-width: 767px)';

function subscribe(onChange: () => void): () => void {
  const query = window.matchMedia(narrow);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

/** Whether the page is as narrow as on a phone. */
export const useIsNarrow = () => useSyncExternalStore(subscribe, () => window.matchMedia(narrow).matches);
