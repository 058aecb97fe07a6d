/** Collects chunks in one growing buffer. A million separate chunks of one byte would take 100 MB. */
export function growingBytes() {
  let bytes = new Uint8Array(8192);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add: (piece: Uint8Array): void => {
      if (length + piece.length > bytes.length) {
        const larger = new Uint8Array(Math.max(2 * bytes.length, length + piece.length));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length += piece.length;
    },
    /** Removes all but the last `most` bytes. Returns how many it removed. */
    keepEnd: (most: number): number => {
      const removed = Math.max(0, length - most);
      bytes.copyWithin(0, removed, length);
      length -= removed;
      return removed;
    },
    /** Returns a copy of the contents and empties the buffer. */
    take: (): Uint8Array<ArrayBuffer> => {
      const taken = bytes.slice(0, length);
      length = 0;
      return taken;
    },
  };
}
