import { formsOf } from './secret-forms.ts';
import { tokenShapes } from './token-shapes.ts';

const removed = '[a credential was removed]';

/**
 * Replaces live credentials, and anything that looks like a token, in every string of a value. Used for the output of
 * models and of set-up, which goes to GitHub and into logs.
 */
export function withoutSecrets<T>(value: T, secrets: string[]): T {
  const forms = formsOf(secrets);
  const clean = (text: string) => {
    let cleaned = text;
    for (const form of forms) cleaned = cleaned.replaceAll(form, removed);
    for (const [, pattern] of tokenShapes) cleaned = cleaned.replace(pattern, removed);
    return cleaned;
  };
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? clean(v) : v)));
}
