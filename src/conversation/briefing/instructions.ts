import { posix } from 'node:path';
import type { Checkout } from '../../git/engine.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';

/** Files in which repositories tell agents how to work. All that exist are read. */
const rootFiles = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'];
const nestedFile = 'AGENTS.md';
/** Characters kept of one file, and of all files in the root together. */
const fileChars = 16_000;
const allChars = 40_000;

/**
 * Reads the repository's instructions for agents. `commit` is on the base branch, so an agent cannot change its own
 * instructions.
 */
export async function readInstructions(checkout: Checkout, commit: string): Promise<string> {
  const parts = [];
  const seen = new Set<string>();
  const texts = await Promise.all(rootFiles.map((path) => textOf(checkout, commit, path)));
  for (const [i, path] of rootFiles.entries()) {
    const text = texts[i] ?? '';
    // Often one of these files is a copy of another, or a symbolic link to it.
    if (text === '' || rootFiles.includes(text) || seen.has(text)) continue;
    seen.add(text);
    parts.push(`### ${path}\n${cut(text)}`);
  }
  return parts.join('\n\n').slice(0, allChars);
}

async function textOf(checkout: Checkout, commit: string, path: string): Promise<string> {
  const file = await checkout.readFile(commit, path);
  if (file === 'too large') return `[${path} is too large to be shown]`;
  return file?.toString('utf8').trim() ?? '';
}

function cut(text: string): string {
  return text.length <= fileChars
    ? text
    : `${text.slice(0, fileChars)}\n[… ${text.length - fileChars} characters cut …]`;
}

/**
 * Wraps the tools. When the model first uses a path in a folder, the tool's result includes that folder's instructions.
 */
export function withNestedInstructions(host: ToolHost, checkout: Checkout, commit: string): ToolHost {
  const known = new Set<string>(['.', '']);
  const instructionsFor = async (path: string): Promise<string> => {
    const found = [];
    const clean = posix.normalize(path);
    if (clean.startsWith('..') || clean.startsWith('/')) return '';
    for (let folder = posix.dirname(clean); !known.has(folder); folder = posix.dirname(folder)) {
      known.add(folder);
      const file = `${folder}/${nestedFile}`;
      const text = await textOf(checkout, commit, file);
      if (text !== '') found.unshift(`\n\n[Instructions of ${file}, for everything in ${folder}]\n${cut(text)}`);
    }
    return found.join('');
  };
  return {
    ...host,
    call: async (tool, args) => {
      const answer = await host.call(tool, args);
      const { path } = args as { path?: unknown };
      return typeof path === 'string' && answer.ok
        ? { ...answer, text: answer.text + (await instructionsFor(path)) }
        : answer;
    },
  };
}
