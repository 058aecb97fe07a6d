/** Returns the titles in a pasted list, one per line, without bullets, numbers and checkboxes. */
export function titlesFromList(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX]\]\s*)?/, '').trim())
    .filter((title) => title !== '');
}
