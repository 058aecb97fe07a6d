import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** A signed text (DSSE, github.com/secure-systems-lab/dsse, version 1). */
export interface Envelope {
  payloadType: string;
  /** The text, in base64. */
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

/** A public key for receipts as a JSON Web Key (RFC 8037). */
export interface ReceiptKey {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  /** The thumbprint of the key (RFC 7638). */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
}

/** The receipt is not what somebody with one of the keys has signed. The message says why. */
export class Unverified extends Error {}

/** The type of in-toto statements in an envelope. */
const payloadType = 'application/vnd.in-toto+json';

/** More signatures than this are not tried. */
const maxSignatures = 10;

/** Returns the bytes that are signed: type and text with their lengths, so that neither can pass for the other. */
export function preAuthEncoding(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);
}

/** Returns the public half of an Ed25519 key with its thumbprint. */
export function publicKeyOf(key: KeyObject): ReceiptKey {
  const { x = '' } = (key.type === 'public' ? key : createPublicKey(key)).export({ format: 'jwk' });
  return receiptKey(x);
}

/** Returns the key with these 32 bytes, which are written in base64url. */
export function receiptKey(x: string): ReceiptKey {
  // The members that are required, in the order of their names.
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
}

/** Signs a statement with an Ed25519 key. The same statement gets the same signature. */
export function signStatement(statement: object, privateKey: KeyObject): Envelope {
  const body = Buffer.from(JSON.stringify(statement));
  const sig = sign(null, preAuthEncoding(payloadType, body), privateKey).toString('base64');
  return {
    payloadType,
    payload: body.toString('base64'),
    signatures: [{ keyid: publicKeyOf(privateKey).kid, sig }],
  };
}

/**
 * Returns the statement in an envelope and the key that has signed it. The ids of keys in the envelope are hints, which
 * nothing protects, so each key is asked by its own thumbprint.
 * @throws Unverified
 */
export function openEnvelope(envelope: unknown, keys: ReceiptKey[]): { statement: unknown; keyId: string } {
  const { payloadType: type, payload, signatures } = (envelope ?? {}) as Partial<Envelope>;
  if (typeof type !== 'string' || typeof payload !== 'string' || !Array.isArray(signatures))
    throw new Unverified('This is no receipt: payloadType, payload or signatures are missing.');
  if (type !== payloadType) throw new Unverified(`This is no receipt: its type is ${type.slice(0, 100)}.`);
  const body = Buffer.from(payload, 'base64');
  const signed = preAuthEncoding(type, body);
  const known = new Map(keys.map((key) => [receiptKey(key.x).kid, key]));
  let isKnown = false;
  const tried = signatures.slice(0, maxSignatures).map((each) => ({ keyid: String(each?.keyid), sig: each?.sig }));
  for (const { keyid, sig } of tried) {
    const key = known.get(keyid);
    if (key === undefined || typeof sig !== 'string') continue;
    isKnown = true;
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
    if (verify(null, signed, publicKey, Buffer.from(sig, 'base64'))) return { statement: parsed(body), keyId: keyid };
  }
  if (isKnown) throw new Unverified('The signature is wrong: the receipt was changed after it was signed.');
  throw new UnknownKey(tried.map(({ keyid }) => keyid.slice(0, 64)));
}

/** None of the keys has signed the receipt. */
export class UnknownKey extends Unverified {
  constructor(ids: string[]) {
    super(`The receipt is signed with another key than the given ones: ${ids.join(', ') || 'it has no signature'}.`);
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Unverified('The signed text is no JSON.');
  }
}
