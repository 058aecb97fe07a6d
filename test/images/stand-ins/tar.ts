/** An entry of a tar archive. Anything may be wrong on purpose. */
export interface Entry {
  name: string;
  content?: string | Buffer;
  /** `0` a file, `1` a hard link, `2` a link, `3` a device, `5` a folder, `x` attributes of the next entry. */
  kind?: string;
  target?: string;
  mode?: number;
  /** What the header says, if it is not the size of the content. */
  size?: string;
}

/** Writes an archive, also a hostile one, which no ordinary program would write. */
export function tar(entries: Entry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(1024)]);
}

function blocksOf({ name, content = '', kind = '0', target = '', mode = 0o644, size }: Entry): Buffer[] {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0');
  header.write(name, 0, 100);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(size ?? octal(body.length, 12), 124, 12, 'latin1');
  header.write(octal(0, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write(kind, 156);
  header.write(target, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  if (kind === '3') for (const at of [329, 337]) header.write(octal(1, 8), at);
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    )}\0 `,
    148,
  );
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}

/** Content of an entry `x`: attributes such as `{ size: '5' }`. */
export function attributes(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([key, value]) => {
      const rest = ` ${key}=${value}\n`;
      const length = rest.length + String(rest.length).length;
      return `${rest.length + String(length).length}${rest}`;
    })
    .join('');
}
