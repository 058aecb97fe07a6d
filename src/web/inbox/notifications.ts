import { decisionPath, inboxNames } from '../../domain/notices/reasons.ts';
import type { InboxEntry } from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';
import { subjectOf } from './outcome.ts';

/** Whether this browser shows notifications is stored in it, because each browser asks for its own permission. */
const storageKey = 'deckhand-notifications';

/** If more entries than this arrive together, one notification counts them. */
const maxAtOnce = 3;

interface NotificationText {
  title: string;
  body: string;
  /** A second notification with the same tag replaces the first, so that several open tabs show one. */
  tag: string;
  /** The page that it opens. */
  path: string;
}

/** Returns the notifications about entries that have just arrived. */
export function notificationsFor(entries: InboxEntry[]): NotificationText[] {
  if (entries.length > maxAtOnce) {
    const tag = entries.map(subjectOf).join(' ');
    return [{ title: `${entries.length} tasks need you`, body: entries[0]?.title ?? '', tag, path: '/' }];
  }
  return entries.map((entry) => ({
    title: inboxNames[entry.reason],
    body: entry.title,
    tag: `${subjectOf(entry)} ${entry.since}`,
    path: decisionPath(entry),
  }));
}

const isSupported = () => 'Notification' in window;

type NotificationState = 'on' | 'off' | 'unsupported';

export function notificationState(): NotificationState {
  if (!isSupported()) return 'unsupported';
  return localStorage.getItem(storageKey) === 'on' && Notification.permission === 'granted' ? 'on' : 'off';
}

/** Turns notifications on, and asks the browser for its permission if it has not been asked. Returns whether they are on. */
export async function turnOnNotifications(): Promise<boolean> {
  const isGranted = (await Notification.requestPermission()) === 'granted';
  if (isGranted) storeText(localStorage, storageKey, 'on');
  return isGranted;
}

export function turnOffNotifications(): void {
  localStorage.removeItem(storageKey);
}

/** Shows a notification. `open` is called with the page when the person clicks it. */
export function showNotification({ title, body, tag, path }: NotificationText, open: (path: string) => void): void {
  try {
    const shown = new Notification(title, { body, tag, icon: '/icon.svg' });
    shown.onclick = () => {
      window.focus();
      open(path);
      shown.close();
    };
  } catch {
    // Browsers on phones show notifications only from service workers.
  }
}
