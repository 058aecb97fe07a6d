import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Registries } from './tools-configuration.ts';

/** Reads cargo's files, because cargo cannot print its configuration. The built-in default index is not found. */
export async function cargo({ CARGO_HOME, HOME = '/' }: Record<string, string>): Promise<Registries> {
  const home = CARGO_HOME ?? join(HOME, '.cargo');
  const files = await Promise.all(['config.toml', 'config'].map((name) => textOf(join(home, name))));
  const lines = files.join('\n').matchAll(/^\s*(?:registry|index)\s*=\s*"(?:sparse\+)?(https?:[^"]+)"/gm);
  return { addresses: [...lines].map(([, address = '']) => address) };
}

/** apt's sources, in both of its formats. */
export async function apt(folder = '/etc/apt'): Promise<Registries> {
  const parts = join(folder, 'sources.list.d');
  const names = await readdir(parts).catch(() => []);
  const files = names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(parts, name));
  const texts = await Promise.all([join(folder, 'sources.list'), ...files].map(textOf));
  const lines = texts
    .join('\n')
    .split('\n')
    .filter((line) => /^\s*(deb|deb-src|URIs:)\s/.test(line));
  return { addresses: lines.flatMap((line) => line.match(/https?:\/\/\S+/g) ?? []) };
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
