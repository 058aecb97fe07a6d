import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { rotateReceiptKeyCommand } from '../../../src/cli/operator.ts';
import { openEnvelope, publicKeyOf, signStatement } from '../../../src/domain/receipt/envelope.ts';
import { publicKeys, resealReceiptKeys, rotateReceiptKey, signingKey } from '../../../src/runs/receipts/keys.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp();
});
afterAll(() => service.close());

const idOf = async () => publicKeyOf(await signingKey(service.app)).kid;
const listed = async () => (await publicKeys(service.app)).keys.map(({ kid }) => kid);

test('one key is generated, however many sign at the same time, and everybody may read its public half', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, idOf));
  expect(new Set(ids).size).toBe(1);
  const reply = await fetch(`${service.url}/.well-known/jwks.json`);
  expect(reply.headers.get('content-type')).toContain('application/jwk-set+json');
  expect(await reply.json()).toEqual({
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: ids[0], use: 'sig', alg: 'EdDSA' }],
  });
  expect(await resealReceiptKeys(service.app)).toBe(1);
  expect(await idOf()).toBe(ids[0]);
});

test('after a rotation earlier receipts are verified, until their keys are revoked', async () => {
  const before = signStatement({ said: 'before' }, await signingKey(service.app));
  const [first] = await listed();
  const { id } = await rotateReceiptKey(service.app, false);
  expect(await idOf()).toBe(id);
  expect(await listed()).toEqual([id, first]);
  const opened = async () => openEnvelope(before, (await publicKeys(service.app)).keys);
  expect((await opened()).statement).toEqual({ said: 'before' });
  const again = await rotateReceiptKey(service.app, true);
  expect(again).toEqual({ id: await idOf(), revoked: 2 });
  expect(await listed()).toEqual([again.id]);
  await expect(opened()).rejects.toThrow('another key');
});

test('RECEIPT_KEY signs instead, and its public half is listed beside earlier ones', async () => {
  const generated = await idOf();
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const app = { ...service.app, config: { ...service.app.config, RECEIPT_KEY: pem } };
  const own = publicKeyOf(createPrivateKey(pem)).kid;
  expect(publicKeyOf(await signingKey(app)).kid).toBe(own);
  await signingKey(app);
  expect(await listed()).toEqual([own, generated]);
  expect(await rotateReceiptKey(app, false)).toEqual({ id: own, revoked: 0 });
  expect(await listed()).toEqual([own, generated]);
});

test('the command takes --revoke and nothing else', async () => {
  await expect(rotateReceiptKeyCommand(service.app.config, ['--other'])).rejects.toThrow('--other');
});
