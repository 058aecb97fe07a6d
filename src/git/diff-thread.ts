import { parentPort, workerData } from 'node:worker_threads';
import { diffFiles, type Sides } from './diff-files.ts';

/** Entry of the thread that `diffOf` starts. Buffers arrive as bare arrays of bytes. */
const sides = (workerData as Sides[]).map((side) => ({ ...side, old: bufferOf(side.old), new: bufferOf(side.new) }));
parentPort?.postMessage(diffFiles(sides));

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
