// Runs in a worker thread (skills.ts), because a malicious file could otherwise block the service.
import { parseDocument } from 'yaml';

/** What the head of a skill's file says. Missing values are empty. */
export interface FrontMatter {
  name: string;
  description: string;
}

const maxAliases = 10;

/** Reads the YAML between the first two lines of `---` in each text. Undefined when there is none, or it is invalid. */
export function frontMattersOf(texts: string[]): (FrontMatter | undefined)[] {
  return texts.map((text) => {
    const [, head] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
    if (head === undefined) return undefined;
    try {
      const document = parseDocument(head, { schema: 'core', merge: false, uniqueKeys: false, logLevel: 'error' });
      const value = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: maxAliases });
      return { name: textIn(value, 'name'), description: textIn(value, 'description') };
    } catch {
      // Too many aliases, or nested too deeply.
      return undefined;
    }
  });
}

function textIn(value: unknown, key: string): string {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof found === 'string' ? found : '';
}
