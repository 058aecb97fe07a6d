import type { UseMutationResult } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';

type Mutation<T, E> = Pick<UseMutationResult<T, E, void>, 'mutate'>;

const pending = new WeakSet<object>();

/** Mutates unless the previous call is still pending, because keys can repeat faster than React disables a button. */
export function mutateOnce<T, E>({ mutate }: Mutation<T, E>): void {
  if (pending.has(mutate)) return;
  pending.add(mutate);
  mutate(undefined, { onSettled: () => pending.delete(mutate) });
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/**
 * Focuses the first field of a form that is required and empty, or that the form itself says is wrong, and says so at the field.
 * Returns whether there is one. Primer's fields only tell screen readers that they are required.
 */
export function refuseField(form: HTMLFormElement): boolean {
  const fields = [...form.querySelectorAll<Field>('input, textarea, select')];
  for (const field of fields) {
    const isMissing = field.getAttribute('aria-required') === 'true' && field.value.trim() === '';
    if (!isMissing && field.dataset.problem === undefined) continue;
    // A folded part of the form may hold it.
    field.closest('details')?.setAttribute('open', '');
    field.focus();
    // What is wrong with it stands below it.
    if (!isMissing) return true;
    field.setCustomValidity(field.dataset.missing ?? 'Fill in this field.');
    field.reportValidity();
    // Otherwise the browser would refuse the form, also once something else has filled in the field.
    for (const event of ['input', 'blur'])
      field.addEventListener(event, () => field.setCustomValidity(''), { once: true });
    return true;
  }
  return false;
}

/**
 * Moves the focus to the first field of a form that is marked as wrong whenever the service has refused one. `refusal` is what it
 * said about the field, empty if it said nothing. Returns what the form needs as its `ref`.
 */
export function useRefusedField(refusal: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusal) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [refusal]);
  return form;
}

/**
 * Returns a submit handler that sends a valid form once, even if Enter is pressed several times. React lets the event of a dialog
 * bubble to the form that opened it, which must not be sent with it.
 */
export function submitOnce<T, E>(mutation: Mutation<T, E>, isValid: () => boolean = () => true) {
  return (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    event.stopPropagation();
    if (!refuseField(event.currentTarget) && isValid()) mutateOnce(mutation);
  };
}

/** Submits a form, or the form of a field, when Ctrl+Enter or Cmd+Enter is pressed in it. */
export function submitOnCtrlEnter(
  event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement | HTMLFormElement>,
): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const { currentTarget } = event;
  const form: HTMLFormElement | null = currentTarget.tagName === 'FORM' ? currentTarget : currentTarget.form;
  form?.requestSubmit();
}

/** Returns the fields that differ. Sending only these avoids overwriting what others changed at the same time. */
export function changedFields<T extends object>(before: T, after: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame(value, before[name as keyof T])),
  ) as Partial<T>;
}

/** Lists and groups of fields are the same if their content is. */
const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);
