import { revealHidden } from '../display/hidden-characters.ts';

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
