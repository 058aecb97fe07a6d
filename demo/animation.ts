import type { Page } from 'playwright-core';

/** A picture of an animation: what changed since the one before it, as WebP, and how long it is shown. */
interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
  webp: Buffer;
  ms: number;
}

/**
 * In a page: keeps the last screenshot, and returns the part of a new one that differs, as WebP. Places are even, because the
 * format has them halved.
 */
const cut = `(() => {
  let last;
  window.cutFrame = async (png, quality) => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
    let [left, top, right, bottom] = [width, height, -1, -1];
    for (let at = 0; at < pixels.length; at++) {
      if (last !== undefined && last[at] === pixels[at]) continue;
      const [x, y] = [at % width, Math.floor(at / width)];
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    }
    last = pixels;
    if (right < 0) return null;
    [left, top] = [left & ~1, top & ~1];
    const part = new OffscreenCanvas(right - left + 1, bottom - top + 1);
    part.getContext('2d', { alpha: false }).drawImage(canvas, -left, -top);
    const bytes = new Uint8Array(await (await part.convertToBlob({ type: 'image/webp', quality })).arrayBuffer());
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return { x: left, y: top, width: part.width, height: part.height, webp: btoa(text) };
  };
})()`;

/** Records screenshots of pages as an animated WebP. `studio` is a blank page of the browser, which encodes them. */
export class Animation {
  private readonly frames: Frame[] = [];
  private readonly studio: Page;
  private readonly quality: number;
  private readonly size: { width: number; height: number };

  private constructor(studio: Page, size: { width: number; height: number }, quality: number) {
    this.studio = studio;
    this.size = size;
    this.quality = quality;
  }

  static async open(studio: Page, size: { width: number; height: number }, quality = 0.8): Promise<Animation> {
    await studio.goto('about:blank');
    await studio.evaluate(cut);
    return new Animation(studio, size, quality);
  }

  get seconds(): number {
    return this.frames.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  }

  /** Adds what a page shows, for so long. A picture without a change makes the one before it longer. */
  async add(page: Page, ms: number): Promise<void> {
    const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    const call = `cutFrame(${JSON.stringify(png.toString('base64'))}, ${this.quality})`;
    const part = await this.studio.evaluate<(Omit<Frame, 'webp' | 'ms'> & { webp: string }) | null>(call);
    const last = this.frames.at(-1);
    if (part !== null) this.frames.push({ ...part, webp: Buffer.from(part.webp, 'base64'), ms });
    else if (last !== undefined) last.ms += ms;
  }

  /** Returns the file: https://developers.google.com/speed/webp/docs/riff_container. It begins again when it has ended. */
  file(): Buffer {
    const { width, height } = this.size;
    const hasAnimation = 0b10;
    const header = chunk('VP8X', [byte(hasAnimation), number(0, 3), number(width - 1, 3), number(height - 1, 3)]);
    const settings = chunk('ANIM', [number(0, 4), number(0, 2)]);
    const shown = this.frames.map((frame) => {
      const place = [frame.x / 2, frame.y / 2, frame.width - 1, frame.height - 1, frame.ms].map((n) => number(n, 3));
      const replacesPixels = 0b10;
      return chunk('ANMF', [...place, byte(replacesPixels), ...picturesIn(frame.webp)]);
    });
    const body = Buffer.concat([Buffer.from('WEBP'), header, settings, ...shown]);
    return Buffer.concat([Buffer.from('RIFF'), number(body.length, 4), body]);
  }
}

/** Returns the chunks with the pixels of a WebP file. An animation has the other ones once. */
function picturesIn(file: Buffer): Buffer[] {
  const found: Buffer[] = [];
  const headerLength = 12;
  for (let at = headerLength; at < file.length; ) {
    const length = file.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (['ALPH', 'VP8 ', 'VP8L'].includes(file.toString('latin1', at, at + 4))) found.push(file.subarray(at, end));
    at = end;
  }
  return found;
}

const byte = (value: number) => Buffer.from([value]);

function number(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

/** Returns a chunk, which has an even length. */
function chunk(name: string, parts: Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(name), number(data.length, 4), data, Buffer.alloc(data.length % 2)]);
}
