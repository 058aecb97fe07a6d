import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { RequestHandler } from 'express';

/** Compressed copies that may lie beside a file, the best first. */
const copies = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Serves the named files of a folder. They are read once and kept in memory: a reply that is streamed from the disk
 * holds an open file for as long as its client does not read, and each of its parts takes a turn of the event loop.
 */
export function filesInMemory(folder: string, names: string[], cacheControl: string): RequestHandler {
  const known = new Set(names);
  const kept = new Map<string, Buffer>();
  const bytesOf = (name: string) => {
    const bytes = kept.get(name) ?? readFileSync(join(folder, name));
    kept.set(name, bytes);
    return bytes;
  };
  return (req, res, next) => {
    const name = req.path.slice(1);
    if (!known.has(name) || !['GET', 'HEAD'].includes(req.method)) return next();
    const existing = copies.filter(([, suffix]) => known.has(name + suffix));
    const [encoding, suffix] = existing.find(([each]) => req.acceptsEncodings(each)) ?? [undefined, ''];
    if (existing.length > 0) res.vary('Accept-Encoding');
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding);
    res.setHeader('Cache-Control', cacheControl);
    res.type(extname(name)).send(bytesOf(name + suffix));
  };
}
