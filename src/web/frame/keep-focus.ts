/** Where the focus is on the page: an element, and what surrounds it, from the inside out. */
interface Place {
  element: HTMLElement;
  around: Element[];
  /** The id of the task whose card it is in. */
  cardId: string | undefined;
  pathname: string;
}

const overlays = 'dialog[open], [role=dialog], [role=alertdialog], [role=menu]';
const landmarks = ['[data-next-focus]', 'h1, h2, h3'];

/**
 * Keeps the focus near its place when the element that has it disappears, for example a button whose action removes it.
 * Browsers would move it to the top of the page, so that people with a keyboard or a screen reader lose their place. It moves
 * to what is marked with `data-next-focus` nearby, otherwise to the nearest heading. An element that was disabled for a
 * while gets the focus back, and a card that has moved to another column of the board keeps it. On another page, the heading
 * of that page gets it.
 */
export function keepFocus(doc: Document): void {
  let place: Place | undefined;
  let { pathname } = window.location;
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
      pathname = window.location.pathname;
      awaited = { selector: 'main h1', isWanted: false };
    }
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
    for (const landmark of landmarks) {
      const found = part.querySelector<HTMLElement>(landmark);
      if (found !== null) return found;
    }
  return undefined;
}

function focus(element: HTMLElement | undefined): void {
  if (element === undefined) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
