import type { Language } from 'linguist-languages';

let byExtension: Promise<Map<string, string>> | undefined;

/** Returns the Linguist name of a file's language, by the file's extension; undefined when no language uses it. */
export async function languageOf(path: string): Promise<string | undefined> {
  // The package has 830 small modules that take 130 ms to load, so they are loaded at the first call.
  byExtension ??= import('linguist-languages').then((all) => index(Object.values(all as Record<string, Language>)));
  const name = path.split('/').at(-1) ?? '';
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? undefined : (await byExtension).get(name.slice(dot).toLowerCase());
}

/** Maps each extension to the most likely of the languages that use it. */
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
