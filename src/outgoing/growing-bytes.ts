/** Bytes that come in pieces, kept in one buffer: a million pieces of one byte would need 100 MB as pieces. */
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
    /** A copy of what there is; from then on it is empty. */
    take: (): Uint8Array<ArrayBuffer> => {
      const taken = bytes.slice(0, length);
      length = 0;
      return taken;
    },
  };
}
