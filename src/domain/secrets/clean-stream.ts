import { safeLength } from './safe-length.ts';
import { withoutSecrets } from './without-secrets.ts';

/**
 * Removes secrets from text that arrives in pieces. Text that may be the beginning of a secret is held back until it is
 * complete; `end` sends the rest.
 */
export function cleanStream(send: (text: string) => void, secrets: string[]) {
  let held = '';
  const flush = (length: number) => {
    const text = withoutSecrets(held.slice(0, length), secrets);
    held = held.slice(length);
    if (text !== '') send(text);
  };
  return {
    add: (piece: string) => {
      held += piece;
      flush(safeLength(held, secrets));
    },
    end: () => flush(held.length),
  };
}
