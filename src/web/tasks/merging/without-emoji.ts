/** Returns a sentence that the service wrote for GitHub without the emoji at its beginning. */
export const withoutEmoji = (sentence: string): string => sentence.replace(/^(✅|⚠️) /u, '');
