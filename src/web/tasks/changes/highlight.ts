import { type HunkData, type HunkTokens, tokenize } from 'react-diff-view';
import { refractor } from 'refractor';

const languageByExtension: Record<string, string> = {
  cjs: 'javascript',
  cs: 'csharp',
  h: 'c',
  htm: 'markup',
  html: 'markup',
  js: 'javascript',
  jsx: 'jsx',
  kt: 'kotlin',
  md: 'markdown',
  mjs: 'javascript',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  svg: 'markup',
  ts: 'typescript',
  vue: 'markup',
  xml: 'markup',
  yml: 'yaml',
};

/**
 * Returns syntax highlighting by file extension, or undefined for unknown languages and for code that cannot be parsed.
 */
export function highlight(path: string, hunks: HunkData[]): HunkTokens | undefined {
  const extension = path.split('.').at(-1)?.toLowerCase() ?? '';
  const language = languageByExtension[extension] ?? extension;
  if (hunks.length === 0 || !refractor.registered(language)) return undefined;
  // react-diff-view expects the API of refractor 3, whose highlight() returns the child nodes.
  const refractor3 = {
    ...refractor,
    highlight: (text: string, name: string) => refractor.highlight(text, name).children,
  };
  try {
    return tokenize(hunks, { highlight: true, refractor: refractor3, language });
  } catch {
    return undefined;
  }
}
