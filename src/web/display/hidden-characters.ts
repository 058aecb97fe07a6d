/** Controls and formats: they turn the order of what stands around them, or do not show, so what is read is not what is there. */
const hidden = /(?!\t)[\p{Cc}\p{Cf}]/gu;

/** A text in which those characters show as their numbers. */
export function visible(text: string): string {
  return text.replace(
    hidden,
    (sign) => `⟦U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
}

export const hasHidden = (text: string): boolean => text.search(hidden) >= 0;
