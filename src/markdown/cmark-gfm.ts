import { readFileSync } from 'node:fs';

/** GitHub's parser of Markdown, compiled from its sources (see cmark-gfm/README.md). It has no access to anything but its memory. */
const parser = new WebAssembly.Module(readFileSync(new URL('./cmark-gfm/cmark-gfm.wasm', import.meta.url)));

/** What we use of WebAssembly, which the types of Node do not describe. */
declare namespace WebAssembly {
  class Module {
    constructor(code: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, () => number>>);
    readonly exports: unknown;
  }
}

interface Parser {
  memory: { buffer: ArrayBuffer };
  _initialize(): void;
  allocate(bytes: number): number;
  /** Takes the place and the length of UTF-8 text, and returns the place of HTML, which ends with a NUL. */
  render(text: number, bytes: number, withBoxes: 0 | 1): number;
}

/** It writes messages before it gives up; giving up throws, too. */
const silent = { fd_close: () => 0, fd_seek: () => 0, fd_write: () => 0 };

/**
 * Renders Markdown to HTML with GitHub's own parser, cmark-gfm: with raw HTML, footnotes, tables, strikethrough and links of bare
 * addresses; with check boxes as elements, or as the text of their list's entry. Malicious Markdown can keep it busy for seconds.
 * @throws Error when it needs more than 256 MB
 */
export function githubHtml(markdown: string, boxes: 'as elements' | 'as text'): string {
  // Each text gets a parser of its own, so nothing of one text can reach the next.
  const instance = new WebAssembly.Instance(parser, { wasi_snapshot_preview1: silent });
  const { memory, _initialize, allocate, render } = instance.exports as Parser;
  _initialize();
  const text = new TextEncoder().encode(markdown);
  const at = allocate(text.length + 1);
  new Uint8Array(memory.buffer).set(text, at);
  const html = render(at, text.length, boxes === 'as elements' ? 1 : 0);
  const bytes = new Uint8Array(memory.buffer);
  return new TextDecoder().decode(bytes.subarray(html, bytes.indexOf(0, html)));
}
