import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import * as queries from '../../live/queries.ts';
import { type Review, readReview } from './review.ts';

const prefix = 'deckhand-review ';
/** Reviews of more tasks than this are not kept. Those without comments and with the oldest change are removed first. */
const maxReviews = 100;

const listeners = new Set<() => void>();
/** Replaces the browser's storage where that is full or switched off. */
const unstored = new Map<string, string>();

function readStored(key: string): string | null {
  try {
    return unstored.get(key) ?? localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
    unstored.delete(key);
    forgetOldest();
  } catch {
    unstored.delete(key);
    unstored.set(key, text);
    const [oldest] = unstored.keys();
    if (unstored.size > maxReviews && oldest !== undefined) unstored.delete(oldest);
  }
  for (const listener of listeners) listener();
}

function forgetOldest(): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  if (keys.length <= maxReviews) return;
  const reviews = keys.map((key) => ({ key, ...readReview(localStorage.getItem(key)) }));
  const rank = (a: Review, b: Review) => Math.sign(a.comments.length) - Math.sign(b.comments.length) || a.at - b.at;
  for (const { key } of reviews.sort(rank).slice(0, keys.length - maxReviews)) localStorage.removeItem(key);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab may change the same review.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

/**
 * Returns what the signed-in person has noted about the diff of a task, and a function that changes it. It is kept in
 * this browser, so that a reload loses nothing.
 */
export function useReview(taskId: string): [Review, (change: (before: Review) => Review) => void] {
  const { data: me } = useQuery(queries.me());
  const userId = me?.id;
  const key = `${prefix}${userId ?? ''} ${taskId}`;
  const stored = useSyncExternalStore(listen, () => readStored(key));
  const review = useMemo(() => readReview(stored), [stored]);
  const change = useCallback(
    (act: (before: Review) => Review) => {
      if (userId !== undefined) store(key, JSON.stringify({ ...act(readReview(readStored(key))), at: Date.now() }));
    },
    [userId, key],
  );
  return [review, change];
}
