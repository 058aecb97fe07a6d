import { setImmediate } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { belowAny } from '../../git/cone.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Checkout } from '../../git/engine.ts';
import { droppedStep } from '../../runs/journal.ts';
import type { RestoredFile } from '../../sandbox/sandbox.ts';
import { type ChangedFiles, readPacked } from './pack-files.ts';

/** Stands for the repository of the task where files are kept by repository; the others have their ids. */
export const ownRepository = '';

/**
 * Returns the packed files of a run in the order in which they are restored: those that it began with, then what each
 * turn changed, up to a turn (numbered from 0).
 */
export async function findStoredFiles(em: EntityManager, runId: string, lastTurn: number | null = null) {
  const rows: { workspace: Buffer }[] = await em.query(
    `select workspace from (
       select -1 as turn, workspace from run_contexts where run_id = $1
       union all select turn, workspace from run_turns where run_id = $1 and ($2::int is null or turn <= $2)) stored
     where workspace is not null order by turn`,
    [runId, lastTurn],
  );
  return rows.map(({ workspace }) => workspace);
}

/** Returns how many bytes the packed files of a run take. */
export async function storedBytes(em: EntityManager, runId: string): Promise<number> {
  const [row]: [{ bytes: number }] = await em.query(
    `select coalesce((select octet_length(workspace) from run_contexts where run_id = $1), 0)
       + coalesce((select sum(octet_length(workspace))::float8 from run_turns where run_id = $1), 0) as bytes`,
    [runId],
  );
  return row.bytes;
}

/** Drops the files of the turns before `turn`, which stores all that differ from the start of the run. */
export async function dropStoredFiles(em: EntityManager, runId: string, turn: number): Promise<void> {
  await em.query('update run_turns set workspace = null where run_id = $1 and turn < $2 and workspace is not null', [
    runId,
    turn,
  ]);
  await em.query('update run_contexts set workspace = null where run_id = $1', [runId]);
  await em.query(
    `insert into run_steps (run_id, name, data) values ($1, $2, jsonb_build_object('turn', $3::int))
     on conflict (run_id, name) do update set data = excluded.data`,
    [runId, droppedStep, turn],
  );
}

/** More than the largest file that a change may have. */
const maxLargeBytes = 100_000_000;

const submoduleMode = '160000';

/**
 * Returns the files to write or delete to turn one tree into another. For a submodule that moves, the content is its commit; other
 * changes of submodules are skipped. Files in Git LFS have their contents if only this checkout has these.
 */
export async function filesBetween(checkout: Checkout, from: string, to: string): Promise<RestoredFile[]> {
  const kept = (await checkout.changes(from, to)).filter(
    ({ oldMode, newMode }) => newMode !== submoduleMode || oldMode === submoduleMode,
  );
  const blobs = await blobsOf(checkout, kept, 'new');
  for (const oid of blobs.keys()) {
    const content = checkout.largeFiles?.isNew(oid) && (await checkout.largeFiles.contentOf(oid, maxLargeBytes));
    if (content) blobs.set(oid, content);
  }
  const files: RestoredFile[] = [];
  let bytes = 0;
  for (const { path, newMode: mode, newOid } of kept) {
    const content = mode === '000000' ? null : contentOf(mode, newOid, blobs);
    files.push({ path, mode, content: content?.toString('base64') ?? null });
    bytes += content?.length ?? 0;
    if (bytes < bytesInARow) continue;
    bytes = 0;
    await setImmediate();
  }
  return files;
}

/** Encoded before other work of the process goes on; that takes some milliseconds. */
const bytesInARow = 2_000_000;

function contentOf(mode: string, oid: string, blobs: Map<string, Buffer>): Buffer {
  return mode === submoduleMode ? Buffer.from(oid) : (blobs.get(oid) ?? Buffer.alloc(0));
}

/** Separates the submodules that moved, with their commits, from the files. */
export function separateMoves(all: RestoredFile[]): {
  moves: { path: string; commit: string }[];
  files: RestoredFile[];
} {
  const isMove = ({ mode, content }: RestoredFile) => mode === submoduleMode && content !== null;
  const commitOf = ({ content }: RestoredFile) => Buffer.from(content ?? '', 'base64').toString('latin1');
  return {
    moves: all.filter(isMove).map((each) => ({ path: each.path, commit: commitOf(each) })),
    files: all.filter((each) => !isMove(each)),
  };
}

/** Unpacks several states, oldest first, and joins them: for each path the newest one counts. */
export async function unpackFiles(packs: Buffer[]): Promise<ChangedFiles> {
  const repositories = new Map<string, Map<string, RestoredFile>>();
  for (const packed of packs) {
    const unpacked = await readPacked(packed);
    // An older version stored an array, because a run had only one repository.
    const all: ChangedFiles = Array.isArray(unpacked) ? { [ownRepository]: unpacked } : unpacked;
    for (const [id, files] of Object.entries(all)) {
      const known = repositories.get(id) ?? new Map<string, RestoredFile>();
      for (const file of files) known.set(file.path, file);
      repositories.set(id, known);
    }
  }
  return Object.fromEntries([...repositories].map(([id, files]) => [id, withoutHidden(files)]));
}

/**
 * Leaves out deletions below a path that is a file or a link in the end. Carrying them out could follow the link and
 * delete something else.
 */
function withoutHidden(files: Map<string, RestoredFile>): RestoredFile[] {
  const kept = [...files.values()].filter(({ content }) => content !== null);
  const isBelowFile = belowAny(kept.map(({ path }) => path));
  return [...files.values()].filter(({ path, content }) => content !== null || !isBelowFile(path));
}
