/** Where the focus is on the page: an element, and what surrounds it, from the inside out. */
interface Place {
  element: HTMLElement;
  around: Element[];
  /** The id of the task whose card it is in. */
  cardId: string | undefined;
  pathname: string;
}

const overlays = 'dialog[open], [role=dialog], [role=alertdialog], [role=menu]';
/** What gets the focus near a place. A button that names another one gets it only in place of that one. */
const landmarksFor = (gone: string) => [
  `[data-next-focus=true], [data-next-focus="${CSS.escape(gone)}"]`,
  'h1, h2, h3',
];

/**
 * Keeps the focus near its place when the element that has it disappears, for example a button whose action removes it.
 * Browsers would move it to the top of the page, so that people with a keyboard or a screen reader lose their place. It moves
 * to what is marked with `data-next-focus` nearby, if that names no other button, otherwise to the nearest heading. An element that was disabled for a
 * while gets the focus back, and a card that has moved to another column of the board keeps it. On another page, the heading
 * of that page gets it, and after Back the card or link with which the person left it.
 */
export function keepFocus(doc: Document): void {
  let place: Place | undefined;
  let { pathname } = window.location;
  let key = entryKey();
  doc.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    if (target.closest('main, header') && !awaited?.isWanted) awaited = undefined;
    if (target.closest('main')) place = placeOf(target);
    // A dialog or a menu belongs to the place that has opened it.
    else if (target.closest('header')) place = undefined;
    // A dialog returns the focus to where it was opened, some time after it has closed.
    if (awaited?.isWanted) restore();
  });
  doc.addEventListener('focusout', ({ target, relatedTarget }) => {
    // An element that stays has lost the focus on purpose. One that disappears is still there during this event.
    if (relatedTarget === null)
      queueMicrotask(() => {
        if (place?.element === target && isUsable(place.element) && doc.activeElement === doc.body) place = undefined;
      });
  });
  // If the person continues elsewhere, the focus stays there.
  for (const type of ['keydown', 'pointerdown'])
    doc.addEventListener(type, () => {
      if (awaited?.isWanted) awaited = undefined;
    });
  const restore = () => {
    if (pathname !== window.location.pathname) {
      rememberLeft(key, pathname, place);
      pathname = window.location.pathname;
      awaitPage(leftAt(entryKey(), pathname), restore);
    }
    key = entryKey();
    if (doc.querySelector(overlays) !== null) return;
    if (awaited !== undefined) focusAwaited(doc, awaited);
    else if (isLost(doc) && place?.pathname === pathname) focus(nextTo(place));
  };
  new MutationObserver(restore).observe(doc.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
}

interface Awaited {
  selector: string;
  /** It gets the focus from whatever has it, until the person goes on. */
  isWanted: boolean;
}

/** Returns the key of the entry of the browser's history, which React Router keeps there. The first one has none. */
const entryKey = (): string => window.history.state?.key ?? 'first';

/** With what the person left a page, by the entry of the browser's history. The oldest are forgotten. */
const left = new Map<string, { pathname: string; selector: string }>();
const maxLeft = 200;

function rememberLeft(key: string, pathname: string, place: Place | undefined): void {
  left.delete(key);
  if (place?.pathname !== pathname) return;
  const href = place.element.getAttribute('href');
  const inCard = place.cardId && `main [data-card="${CSS.escape(place.cardId)}"]`;
  const selector = inCard ?? (href && `main a[href="${CSS.escape(href)}"]`);
  if (selector) left.set(key, { pathname, selector });
  const [oldest] = left.keys();
  if (left.size > maxLeft && oldest !== undefined) left.delete(oldest);
}

/** Returns a selector of what the person used to leave a page; undefined if they have not been there. */
function leftAt(key: string, pathname: string): string | undefined {
  const found = left.get(key);
  return found?.pathname === pathname ? found.selector : undefined;
}

/** How long a page may take to show again what the person left it with. Then its heading gets the focus. */
const showMs = 2000;

function awaitPage(selector: string | undefined, restore: () => void): void {
  const heading: Awaited = { selector: 'main h1', isWanted: false };
  if (selector === undefined) {
    awaited = heading;
    return;
  }
  const kept: Awaited = { selector, isWanted: false };
  awaited = kept;
  setTimeout(() => {
    if (awaited !== kept) return;
    awaited = heading;
    restore();
  }, showMs);
}

/** How long after a dialog has closed it may still return the focus. */
const returnMs = 500;

/** What gets the focus as soon as it is shown. */
let awaited: Awaited | undefined;

function focusAwaited(doc: Document, { selector, isWanted }: Awaited): void {
  const found = isWanted || isLost(doc) ? doc.querySelector<HTMLElement>(selector) : null;
  if (found === null || found === doc.activeElement) return;
  if (isWanted) setTimeout(() => (awaited = undefined), returnMs);
  else awaited = undefined;
  focus(found);
}

const isLost = (doc: Document) => doc.activeElement === doc.body;

/** Moves the focus to a task on the board or in a list, once the dialog that created it is closed and the task is shown. */
export function focusNewTask(taskId: string): void {
  awaited = { selector: `main a[href="/tasks/${CSS.escape(taskId)}"]`, isWanted: true };
}

function placeOf(element: HTMLElement): Place {
  const around: Element[] = [];
  for (let at = element.parentElement; at !== null; at = at.parentElement) {
    around.push(at);
    if (at.tagName === 'MAIN') break;
  }
  const cardId = element.closest('.card')?.querySelector<HTMLElement>('[data-card]')?.dataset.card;
  return { element, around, cardId, pathname: window.location.pathname };
}

const isUsable = (element: HTMLElement) => element.isConnected && !element.matches(':disabled');

/** Returns what gets the focus; undefined if it has to wait for a change. */
function nextTo({ element, around, cardId }: Place): HTMLElement | undefined {
  if (element.isConnected) return isUsable(element) ? element : undefined;
  const card = cardId && element.ownerDocument.querySelector<HTMLElement>(`[data-card="${CSS.escape(cardId)}"]`);
  if (card) return card;
  // Such a part of the page moves the focus itself, as long as it is there.
  if (around.some((part) => part.isConnected && part.matches('[data-moves-focus]'))) return undefined;
  for (const part of around.filter((each) => each.isConnected))
    for (const landmark of landmarksFor(element.textContent.trim())) {
      const found = part.querySelector<HTMLElement>(landmark);
      if (found !== null) return found;
    }
  return undefined;
}

function focus(element: HTMLElement | undefined): void {
  if (element === undefined) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  showFollowed(element);
}

/**
 * Scrolls to what has the focus if the person just did something, such as starting a card that then moves to a column off the
 * screen. Changes by others do not move the page under somebody who reads.
 */
export function showFollowed(element: HTMLElement): void {
  const whole = element.closest('.card') ?? element;
  if (navigator.userActivation.isActive) whole.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
