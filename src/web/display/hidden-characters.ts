/** Control and format characters, except tabs. They can reorder the text around them or be invisible. */
const hidden = /(?!\t)[\p{Cc}\p{Cf}]/gu;

/** Replaces each hidden character with its code point, such as `⟦U+202E⟧`. */
export function revealHidden(text: string): string {
  return text.replace(
    hidden,
    (character) => `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
}

export const hasHidden = (text: string): boolean => text.search(hidden) >= 0;
