/** The messages in the corner of the page. */
export interface Notice {
  id: number;
  text: string;
  variant: 'danger' | 'success' | 'default';
  /** What the person can do about it. */
  action?: { name: string; act(): void /** The page that it opens. */; to?: string } | undefined;
  /** It disappears when the connection is back. */
  isAboutConnection: boolean;
  /** When it was shown, in milliseconds. */
  at: number;
}

/** Maximum number of notices. A further one replaces the oldest. */
const maxNotices = 3;

let notices: Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function keep(next: Notice[]): void {
  if (next.length === notices.length && next.every((notice, i) => notice === notices[i])) return;
  notices = next;
  for (const listener of listeners) listener();
}

const keepIf = (isKept: (notice: Notice) => boolean) => keep(notices.filter(isKept));

export const listNotices = (): Notice[] => notices;

export function onNoticesChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows a notice instead of an earlier one with the same text. Returns its id. */
export function show(notice: Omit<Notice, 'id'>): number {
  const id = ++lastId;
  const others = notices.filter((n) => n.text !== notice.text).slice(1 - maxNotices);
  keep([...others, { ...notice, id }]);
  return id;
}

export const dismiss = (id: number): void => keepIf((notice) => notice.id !== id);

/** Dismisses a notice that is shown elsewhere. */
export const dropNotice = (text: string): void => keepIf((notice) => notice.text !== text);

/** Dismisses the notices that lead to a page, once the person is there. */
export const dismissLinksTo = (path: string): void => keepIf(({ action }) => action?.to !== path);

export const dismissConnectionErrors = (): void => keepIf((notice) => !notice.isAboutConnection);

/** Dismisses the errors that were shown before a time. */
export const dismissErrorsBefore = (at: number): void =>
  keepIf((notice) => notice.variant !== 'danger' || notice.at >= at);
