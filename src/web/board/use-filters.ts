import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { isLeaving, useSetParam } from '../frame/navigation.ts';
import { paramsOf } from './views/view-query.ts';

/** How long to wait after the last keystroke before the address is updated. */
const typingPauseMs = 300;

export interface Filters {
  searchParams: URLSearchParams;
  setParam(name: string, value: string | null): void;
  searchText: string;
  setSearchText(text: string): void;
  /** Replaces all filters and the sorting. */
  setQuery(query: string): void;
}

/**
 * Returns the filters of the board, which are stored in the page's address. Updating the address on every keystroke is
 * too slow, so the search text is kept in state and written to the address when typing pauses. When the address changes
 * for another reason, the text is updated from it.
 */
export function useFilters(): Filters {
  const [searchParams, setSearchParams] = useSearchParams();
  const addressText = searchParams.get('search') ?? '';
  const [searchText, setSearchText] = useState(addressText);
  const lastAddressText = useRef(addressText);
  const setParam = useSetParam({ replace: true });
  useEffect(() => {
    if (lastAddressText.current !== addressText) {
      lastAddressText.current = addressText;
      setSearchText(addressText);
      return;
    }
    const timer = setTimeout(() => {
      if (addressText === searchText || isLeaving()) return;
      lastAddressText.current = searchText;
      setParam('search', searchText);
    }, typingPauseMs);
    return () => clearTimeout(timer);
  });
  const setQuery = (query: string) => {
    const params = paramsOf(query);
    lastAddressText.current = params.get('search') ?? '';
    setSearchText(lastAddressText.current);
    setSearchParams(params, { replace: true });
  };
  return { searchParams, setParam, searchText, setSearchText, setQuery };
}
