/**
 * What the beginning of a TLS connection says: the server name it asks for, or why the connection is refused. Undefined
 * while it is incomplete.
 */
export type Hello = { serverName: string } | { problem: string } | undefined;

/** Hellos have 200 to 2,000 bytes. RFC 8446 allows 64 kB, but every server that matters refuses more than this. */
const maxHelloBytes = 16_384;
/** Records that a hello may be split into. Each chunk that arrives walks over all of them. */
const maxRecords = 8;

/** Type, version and length of a record. */
const recordHead = 5;

/** Bytes after which a hello is complete or refused. */
export const maxPeekedBytes = maxHelloBytes + maxRecords * recordHead;

const [handshakeRecord, clientHello] = [22, 1];
const [serverNameExtension, encryptedHelloExtension] = [0, 0xfe0d];

const malformed = { problem: 'it must begin with a well-formed TLS hello' };

/** Reads the ClientHello (RFC 8446, section 4.1.2) at the beginning of a connection. */
export function readHello(bytes: Buffer): Hello {
  const message = handshakeOf(bytes);
  if (message === undefined || 'problem' in message) return message;
  try {
    return helloOf(message.body);
  } catch (error) {
    if (error instanceof RangeError) return malformed;
    throw error;
  }
}

/** Joins the records that the first handshake message is split into. */
function handshakeOf(bytes: Buffer): { body: Buffer } | { problem: string } | undefined {
  let message: Buffer = Buffer.alloc(0);
  for (let at = 0, records = 0; at < bytes.length; records++) {
    const found = records < maxRecords ? recordAt(bytes, at) : malformed;
    if (found === undefined || 'problem' in found) return found;
    message = Buffer.concat([message, found.content]);
    at += recordHead + found.content.length;
    const whole = wholeMessage(message);
    if (whole !== undefined) return whole;
  }
  return undefined;
}

function recordAt(bytes: Buffer, at: number): { content: Buffer } | { problem: string } | undefined {
  if (bytes[at] !== handshakeRecord) return malformed;
  if (bytes.length < at + recordHead) return undefined;
  const length = bytes.readUInt16BE(at + 3);
  if (bytes[at + 1] !== 3 || length === 0 || length > maxHelloBytes) return malformed;
  const content = bytes.subarray(at + recordHead, at + recordHead + length);
  return content.length < length ? undefined : { content };
}

/** A hello is the only message of its records: what follows it has to wait for the server's answer. */
function wholeMessage(message: Buffer): { body: Buffer } | { problem: string } | undefined {
  if (message.length < 4) return undefined;
  const wanted = 4 + message.readUIntBE(1, 3);
  if (message[0] !== clientHello || wanted > maxHelloBytes || message.length > wanted) return malformed;
  return message.length === wanted ? { body: message.subarray(4) } : undefined;
}

/** @throws RangeError when a length does not fit */
function helloOf(body: Buffer): Hello {
  const hello = cursor(body);
  hello.bytes(2 + 32); // version and random
  hello.list(1); // session
  hello.list(2); // cipher suites
  hello.list(1); // compression methods
  if (hello.isAtEnd()) return nameless;
  const extensions = cursor(hello.list(2));
  let names: Buffer | undefined;
  while (!extensions.isAtEnd()) {
    const type = extensions.number(2);
    const content = extensions.list(2);
    if (type === encryptedHelloExtension)
      return { problem: 'its TLS server name must not be encrypted (Encrypted Client Hello)' };
    if (type !== serverNameExtension) continue;
    if (names !== undefined) return malformed;
    names = content;
  }
  if (!hello.isAtEnd()) return malformed;
  return names === undefined ? nameless : serverNameOf(names);
}

const nameless = { problem: 'its TLS hello must name the server' };

/** Reads the extension `server_name` (RFC 6066, section 3), which must hold exactly one host name. */
function serverNameOf(extension: Buffer): Hello {
  const outer = cursor(extension);
  const entries = cursor(outer.list(2));
  const type = entries.number(1);
  const name = entries.list(2);
  if (type !== 0 || !entries.isAtEnd() || !outer.isAtEnd()) return malformed;
  return { serverName: name.toString('latin1').toLowerCase() };
}

/** Reads numbers and lists in order. @throws RangeError beyond the end */
function cursor(buffer: Buffer) {
  let at = 0;
  const bytes = (length: number) => {
    if (at + length > buffer.length) throw new RangeError('beyond the end');
    at += length;
    return buffer.subarray(at - length, at);
  };
  const number = (size: number) => bytes(size).readUIntBE(0, size);
  return { bytes, number, list: (size: number) => bytes(number(size)), isAtEnd: () => at === buffer.length };
}
