import { posix } from 'node:path';
import type { Checkout } from '../../git/engine.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';

/** Where repositories tell agents how to work in them; all that are there count. */
const rootFiles = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'];
const nestedFile = 'AGENTS.md';
const fileChars = 16_000;
const allChars = 40_000;

/** The repository's own instructions at a commit of its base branch, so that no agent writes its own orders. */
export async function readInstructions(checkout: Checkout, commit: string): Promise<string> {
  const parts = [];
  const seen = new Set<string>();
  const texts = await Promise.all(rootFiles.map((path) => textOf(checkout, commit, path)));
  for (const [i, path] of rootFiles.entries()) {
    const text = texts[i] ?? '';
    // One is often a copy of, or a link to, another.
    if (text === '' || rootFiles.includes(text) || seen.has(text)) continue;
    seen.add(text);
    parts.push(`### ${path}\n${cut(text)}`);
  }
  return parts.join('\n\n').slice(0, allChars);
}

async function textOf(checkout: Checkout, commit: string, path: string): Promise<string> {
  const file = await checkout.readFile(commit, path);
  if (file === 'too large') return `[${path} is too large to be shown here]`;
  return file?.toString('utf8').trim() ?? '';
}

function cut(text: string): string {
  return text.length <= fileChars
    ? text
    : `${text.slice(0, fileChars)}\n[… ${text.length - fileChars} characters cut …]`;
}

/** The same tools, which tell the instructions of a folder when the model first touches something in it. */
export function withNestedInstructions(host: ToolHost, checkout: Checkout, commit: string): ToolHost {
  const looked = new Set<string>(['.', '']);
  const tell = async (path: string): Promise<string> => {
    const told = [];
    const clean = posix.normalize(path);
    if (clean.startsWith('..') || clean.startsWith('/')) return '';
    for (let folder = posix.dirname(clean); !looked.has(folder); folder = posix.dirname(folder)) {
      looked.add(folder);
      const file = `${folder}/${nestedFile}`;
      const text = await textOf(checkout, commit, file);
      if (text !== '') told.unshift(`\n\n[Instructions of ${file}, for everything in ${folder}]\n${cut(text)}`);
    }
    return told.join('');
  };
  return {
    ...host,
    call: async (tool, args) => {
      const answer = await host.call(tool, args);
      const { path } = args as { path?: unknown };
      return typeof path === 'string' && answer.ok ? { ...answer, text: answer.text + (await tell(path)) } : answer;
    },
  };
}
