/** `1 file`, `2 files`; for words that take an s. */
export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
