import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';

/** How long typing has to pause before the address changes. */
const typingPauseMs = 300;

export interface Filters {
  searchParams: URLSearchParams;
  setParam(name: string, value: string | null): void;
  searchText: string;
  setSearchText(text: string): void;
}

/**
 * The filters of the board, kept in the address. Changing the address is too slow for every keystroke, so the search text
 * is kept here and the address follows when typing pauses. When the address changes otherwise, the text follows it.
 */
export function useFilters(): Filters {
  const [searchParams, setSearchParams] = useSearchParams();
  const addressText = searchParams.get('search') ?? '';
  const [searchText, setSearchText] = useState(addressText);
  const lastAddressText = useRef(addressText);
  const setParam = (name: string, value: string | null) =>
    setSearchParams(
      (params) => {
        if (value === null || value === '') params.delete(name);
        else params.set(name, value);
        return params;
      },
      { replace: true },
    );
  useEffect(() => {
    if (lastAddressText.current !== addressText) {
      lastAddressText.current = addressText;
      setSearchText(addressText);
      return;
    }
    const timer = setTimeout(() => {
      if (addressText === searchText) return;
      lastAddressText.current = searchText;
      setParam('search', searchText);
    }, typingPauseMs);
    return () => clearTimeout(timer);
  });
  return { searchParams, setParam, searchText, setSearchText };
}
