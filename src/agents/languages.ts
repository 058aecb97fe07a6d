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

/** Several languages may share an ending: its own one wins over a guest, a language over a dialect, a common over a rare one. */
function index(languages: Language[]): Map<string, string> {
  const best = new Map<string, { name: string; score: number }>();
  for (const { name, extensions = [], aliases = [], group, codemirrorMode } of languages)
    for (const [i, extension] of extensions.entries()) {
      const score =
        (i === 0 ? 4 : 0) +
        (group === undefined ? 2 : 0) +
        (codemirrorMode === undefined ? 0 : 1) +
        (aliases.includes(extension.slice(1)) ? 1 : 0);
      if (score > (best.get(extension)?.score ?? -1)) best.set(extension, { name, score });
    }
  return new Map([...best].map(([extension, { name }]) => [extension, name]));
}
