/** The pointer that git has instead of a file in Git LFS. */
export interface Pointer {
  /** The SHA-256 of the contents. */
  oid: string;
  size: number;
}

/** Pointers are smaller than this (git-lfs, docs/spec.md). */
export const maxPointerBytes = 1024;

/** Writes the pointer of some contents, exactly as git-lfs does, so that both make the same blob. */
export function pointerTo({ oid, size }: Pointer): Buffer {
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`);
}

/** Parses a pointer; returns undefined for anything else, and for pointers with extensions, whose contents are encoded. */
export function pointerIn(content: Buffer): Pointer | undefined {
  if (content.length >= maxPointerBytes) return undefined;
  const pattern =
    /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?$/;
  const [, oid, size] = pattern.exec(content.toString('latin1')) ?? [];
  return oid === undefined ? undefined : { oid, size: Number(size) };
}
