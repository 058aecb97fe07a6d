/** Returns the titles in a pasted list, one per line, without bullets, numbers and checkboxes. */
export function titlesFromList(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX]\]\s*)?/, '').trim())
    .filter((title) => title !== '');
}

/** The title and the description of a new task. */
export interface Text {
  title: string;
  description: string;
}

const noText: Text = { title: '', description: '' };

/**
 * Returns the text of a new task when another template is chosen, or none. What the person has written stays: a title is kept, and
 * the template follows a description.
 */
export function filledFrom(text: Text, before: Text = noText, next: Text = noText): Text {
  const isUntouched = (part: keyof Text) => text[part].trim() === '' || text[part] === before[part];
  const written = isUntouched('description') ? '' : text.description.trimEnd();
  const parts = [written, next.description].filter((part) => part !== '');
  return { title: isUntouched('title') ? next.title : text.title, description: parts.join('\n\n') };
}
