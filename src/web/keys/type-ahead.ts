/** How long keys are kept for a dialog whose code or data is still on its way. */
const longestMs = 10_000;

/**
 * Keeps what a person types between a shortcut and the first text field of the dialog that it opens, and writes it there, and what follows
 * a Tab into the next field. The code of a dialog may still have to be loaded, and people do not wait for it. Escape, a click or another
 * field discards it.
 */
export function typeAhead(): void {
  const parts = [''];
  const change = (to: (part: string) => string) => parts.push(to(parts.pop() ?? ''));
  const ended = new AbortController();
  const until = { capture: true, signal: ended.signal };
  const timer = setTimeout(() => ended.abort(), longestMs);
  ended.signal.addEventListener('abort', () => clearTimeout(timer));
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (key === 'Escape') return ended.abort();
    if (ctrlKey || metaKey || altKey || event.isComposing) return;
    if ([...key].length === 1) change((part) => part + key);
    else if (key === 'Backspace') change((part) => [...part].slice(0, -1).join(''));
    else if (key === 'Tab' && !event.shiftKey) parts.push('');
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const onFocusIn = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    ended.abort();
    const dialog = target.closest('dialog, [role="dialog"]');
    if (dialog === null) return;
    const fields = [...dialog.querySelectorAll<typeof target>('input[type="text"], input:not([type]), textarea')];
    const following = fields.slice(fields.indexOf(target) + 1);
    [target, ...following].slice(0, parts.length).forEach((field, i) => {
      if (i > 0) {
        field.focus();
        // Otherwise the cursor of a text area stands before what was written earlier.
        field.setSelectionRange(field.value.length, field.value.length);
      }
      write(field, parts[i] ?? '');
    });
  };
  window.addEventListener('keydown', onKeyDown, until);
  window.addEventListener('focusin', onFocusIn, until);
  window.addEventListener('pointerdown', () => ended.abort(), until);
}

/** Writes text at the cursor of a field, in such a way that React notices the change. */
function write(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  if (text === '') return;
  const end = field.value.length;
  field.setRangeText(text, field.selectionStart ?? end, field.selectionEnd ?? end, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
}
