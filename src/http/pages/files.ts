import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { RequestHandler } from 'express';

/** Compressed copies that may lie beside a file, the best first. */
const copies = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Serves those of the named files that a folder has. They are read now and kept in memory: a reply that is streamed from the
 * disk holds an open file for as long as its client does not read, and each of its parts takes a turn of the event loop. And
 * a file that is replaced later, by another build, does not fit the others.
 */
export function filesInMemory(folder: string, names: string[], cacheControl: string): RequestHandler {
  const existingNames = names.filter((name) => existsSync(join(folder, name)));
  const kept = new Map(existingNames.map((name) => [name, readFileSync(join(folder, name))]));
  return (req, res, next) => {
    const name = req.path.slice(1);
    if (!kept.has(name) || !['GET', 'HEAD'].includes(req.method)) return next();
    const existing = copies.filter(([, suffix]) => kept.has(name + suffix));
    const [encoding, suffix] = existing.find(([each]) => req.acceptsEncodings(each)) ?? [undefined, ''];
    if (existing.length > 0) res.vary('Accept-Encoding');
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding);
    res.setHeader('Cache-Control', cacheControl);
    res.type(extname(name)).send(kept.get(name + suffix));
  };
}
