import { imageFailed } from '../failure.ts';

/** Reads a short answer into memory. @throws RunFailed when it is longer than `maxBytes` */
export async function readWithin(response: Response, maxBytes: number, who: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop also ends the download.
    if (length > maxBytes) throw imageFailed(`the answer of ${who} is larger than ${maxBytes / 1000} kB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
