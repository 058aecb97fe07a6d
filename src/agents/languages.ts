import type { Language } from 'linguist-languages';

/** Returns the Linguist name of the language that most likely uses each file extension, such as `.ts`. */
export async function languagesByExtension(): Promise<Map<string, string>> {
  // The package has 830 small modules that take 130 ms to load, so they are loaded only when they are needed.
  return index(Object.values((await import('linguist-languages')) as Record<string, Language>));
}

function index(languages: Language[]): Map<string, string> {
  const best = new Map<string, { name: string; score: number }>();
  for (const language of languages)
    for (const extension of language.extensions ?? []) {
      const score = scoreOf(language, extension);
      if (score > (best.get(extension)?.score ?? -1)) best.set(extension, { name: language.name, score });
    }
  return new Map([...best].map(([extension, { name }]) => [extension, name]));
}

/**
 * Scores a language for an extension. Its main extension counts most. Then languages rank before dialects, and common
 * ones before rare ones.
 */
function scoreOf({ extensions = [], aliases = [], group, codemirrorMode }: Language, extension: string): number {
  const isFirst = extensions[0] === extension;
  const isAlias = aliases.includes(extension.slice(1));
  return 4 * Number(isFirst) + 2 * Number(group === undefined) + Number(codemirrorMode !== undefined) + Number(isAlias);
}
