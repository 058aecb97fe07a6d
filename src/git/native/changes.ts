import type { Change } from '../engine.ts';
import { inPortions } from '../portions.ts';
import type { NativeRepository } from './repository.ts';

/**
 * Number of comparisons to cache. The end of a run requests the same one several times; a long run requests many others
 * before.
 */
const maxRemembered = 8;

/** Returns the changed paths between two commits or trees. */
export async function changesBetween(repository: NativeRepository, from: string, to: string): Promise<Change[]> {
  const { changes: remembered } = repository;
  const pair = `${from} ${to}`;
  const known = remembered.get(pair);
  if (known !== undefined) return known;
  const output = await repository.git([
    ...['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index'],
    ...[from, to],
  ]);
  const changes = await parseRaw(output);
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(pair, changes);
  return changes;
}

/** Parses git's raw format: `:100644 100644 <old> <new> M\0path\0…` */
async function parseRaw(raw: Buffer): Promise<Change[]> {
  const changes: Change[] = [];
  await inPortions(recordsOf(raw), ([meta, path]) => {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = meta.slice(1).split(' ');
    changes.push({ path, oldMode, newMode, oldOid, newOid });
  });
  return changes;
}

function* recordsOf(raw: Buffer): Generator<[meta: string, path: string]> {
  for (let at = 0; at < raw.length; ) {
    const middle = raw.indexOf(0, at);
    const end = raw.indexOf(0, middle + 1);
    yield [raw.toString('latin1', at, middle), raw.toString('utf8', middle + 1, end)];
    at = end + 1;
  }
}
