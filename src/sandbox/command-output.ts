import type { Readable } from 'node:stream';

/** Characters kept from the start and from the end of an output. */
const usualChars = 15_000;

/**
 * Bytes to read before a pause, which makes 10 MB/s. Without it, four commands that write as fast as they can took 94 %
 * of the event loop.
 */
const [burstBytes, pauseMs] = [1_000_000, 100];

/** Reads the output of a process at a limited rate. A process that writes faster blocks on its full pipe. */
export function readPaced(streams: (Readable | null)[], add: (chunk: Buffer) => void): void {
  const open = streams.filter((stream) => stream !== null);
  let bytes = 0;
  const resume = () => {
    bytes = 0;
    for (const stream of open) stream.resume();
  };
  for (const stream of open)
    stream.on('data', (chunk: Buffer) => {
      add(chunk);
      bytes += chunk.length;
      if (bytes < burstBytes || open.some((each) => each.isPaused())) return;
      for (const each of open) each.pause();
      setTimeout(resume, pauseMs);
    });
}

export interface CappedOutput {
  add(chunk: Buffer): void;
  text(): string;
}

/**
 * Keeps the start and the end of an output of any length, `shownChars` of each. The rest is discarded without decoding
 * it.
 */
export function cappedOutput(shownChars = usualChars): CappedOutput {
  // The maximum size of these characters in UTF-8.
  const keptBytes = shownChars * 4;
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  const length = { head: 0, tail: 0, all: 0 };
  return {
    add: (chunk) => {
      length.all += chunk.length;
      const first = chunk.subarray(0, keptBytes - length.head);
      if (first.length > 0) head.push(first);
      length.head += first.length;
      const rest = chunk.subarray(first.length).subarray(-keptBytes);
      tail.push(rest);
      length.tail += rest.length;
      if (length.tail < 2 * keptBytes) return;
      tail = [Buffer.concat(tail).subarray(-keptBytes)];
      length.tail = keptBytes;
    },
    text: () => {
      const whole = Buffer.concat([...head, ...tail]);
      if (whole.length === length.all) {
        const text = whole.toString('utf8');
        if (text.length <= 2 * shownChars) return text;
      }
      const [first, last] = [Buffer.concat(head), whole.subarray(-keptBytes)].map((part) => part.toString('utf8'));
      return `${first?.slice(0, shownChars)}\n[… cut; ${length.all} bytes in all …]\n${last?.slice(-shownChars)}`;
    },
  };
}
