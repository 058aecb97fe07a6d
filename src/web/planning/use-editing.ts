import { useEffect } from 'react';
import { subscribe } from '../live/event-stream.ts';
import type { Parts } from './part-text.ts';

/** Shows other members that this person works on a part of a plan, as long as `isEditing` and the page is visible. */
export function useEditing(projectId: string, sessionId: string, part: keyof Parts, isEditing: boolean): void {
  useEffect(() => {
    if (!isEditing) return;
    const address = `/api/v1/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}/editing`;
    return subscribe(`${address}?part=${part}`, { events: {} });
  }, [projectId, sessionId, part, isEditing]);
}
