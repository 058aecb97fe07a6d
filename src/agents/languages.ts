import type { Language } from 'linguist-languages';

let byExtension: Promise<Map<string, string>> | undefined;

/** The Linguist name of the language a file is written in, by its ending; undefined for files of no language. */
export async function languageOf(path: string): Promise<string | undefined> {
  // 830 small modules take 130 ms to load, so only who asks waits for them.
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

/** A language's first extension counts most, then a language over a dialect, then a common one over a rare one. */
function scoreOf({ extensions = [], aliases = [], group, codemirrorMode }: Language, extension: string): number {
  const isFirst = extensions[0] === extension;
  const isAlias = aliases.includes(extension.slice(1));
  return 4 * Number(isFirst) + 2 * Number(group === undefined) + Number(codemirrorMode !== undefined) + Number(isAlias);
}
