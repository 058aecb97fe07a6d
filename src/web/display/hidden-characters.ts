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

const escapeCharacter = String.fromCodePoint(27);
/** Escape sequences that set colours and move the cursor. */
const sequences = new RegExp(`${escapeCharacter}\\[[0-9;?]*[ -/]*[@-~]`, 'g');

/**
 * Returns the output of a command as a terminal would leave it: without colours, and with each line as it was last
 * written. Other characters that are invisible or reorder text are replaced with their code points.
 */
export function terminalText(output: string): string {
  return output
    .replace(sequences, '')
    .split('\n')
    .map((line) => revealHidden(line.replace(/\r+$/, '').split('\r').at(-1) ?? ''))
    .join('\n');
}
