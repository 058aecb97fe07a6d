import { generateKeyPairSync } from 'node:crypto';
import {
  type Envelope,
  openEnvelope,
  preAuthEncoding,
  publicKeyOf,
  receiptKey,
  signStatement,
} from '../../../src/domain/receipt/envelope.ts';
import { factsOf, type Receipt, readStatement, statementOf } from '../../../src/domain/receipt/statement.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const own = publicKeyOf(privateKey);
const other = publicKeyOf(generateKeyPairSync('ed25519').privateKey);
const subject = { repository: 'https://github.com/octocat/hello', commit: 'a'.repeat(40), tree: 'b'.repeat(40) };
const receipt: Receipt = {
  pullRequest: 'https://github.com/octocat/hello/pull/12',
  branch: 'agent/1-greet',
  baseBranch: 'main',
  service: { version: '0.1.0', address: 'https://deckhand.example.com' },
  task: 'task_1',
  run: { id: 'run_1', kind: 'start', startedAt: null, signedAt: '2026-01-15T09:30:00.000Z' },
  agent: { name: 'Developer', version: 2, promptSha256: 'c'.repeat(64) },
  model: 'gpt-5',
  environment: { key: 'abc', how: 'restored' },
  hosts: ['registry.example.org'],
  checks: [{ command: 'npm test', passed: true, seconds: 3 }],
  proof: { status: 'proved', newTestsFailOnBase: true, oldTestsPass: true, reason: null, baseCommit: 'd'.repeat(40) },
  approvals: [{ what: 'push', by: 'mona', at: '2026-01-15T09:29:00.000Z' }],
};
const envelope = signStatement(statementOf(subject, receipt), privateKey);
const opened = (changed: unknown, keys = [own]) => openEnvelope(changed, keys);

test('the signed bytes are those of the DSSE protocol', () => {
  // The example of the protocol.
  const bytes = preAuthEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
  expect(bytes.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  // Lengths count bytes.
  expect(preAuthEncoding('é', Buffer.from('ü')).toString()).toBe('DSSEv1 2 é 2 ü');
});

test('the id of a key is its thumbprint (RFC 8037, appendix A.3)', () => {
  expect(receiptKey('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo').kid).toBe(
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  );
});

test('a signed statement is read again, and its facts are said', () => {
  const { statement, keyId } = opened(envelope, [other, own]);
  expect(keyId).toBe(own.kid);
  expect(statement).toMatchObject({ _type: 'https://in-toto.io/Statement/v1', predicate: receipt });
  const stated = readStatement(statement);
  expect(stated).toEqual({ ...subject, receipt });
  expect(factsOf(stated).join('\n')).toContain('Checks: npm test passed');
  expect(signStatement(statementOf(subject, receipt), privateKey)).toEqual(envelope);
});

const changes: Record<string, (given: Envelope) => unknown> = {
  'a changed text': (given) => ({
    ...given,
    payload: Buffer.from(JSON.stringify(statementOf({ ...subject, commit: 'e'.repeat(40) }, receipt))).toString(
      'base64',
    ),
  }),
  'another type': (given) => ({ ...given, payloadType: 'application/json' }),
  'a changed signature': (given) => ({
    ...given,
    signatures: given.signatures.map((each) => ({ ...each, sig: Buffer.alloc(64).toString('base64') })),
  }),
  'no signature': (given) => ({ ...given, signatures: [] }),
  'a signature that is no object': (given) => ({ ...given, signatures: [null, 1] }),
  'the id of another key': (given) => ({
    ...given,
    signatures: given.signatures.map((each) => ({ ...each, keyid: other.kid })),
  }),
  nothing: () => null,
  'a text': () => 'receipt',
};
test.each(Object.entries(changes))('%s is refused', (_what, change) => {
  expect(() => opened(change(envelope), [own, other])).toThrow(/receipt|signature|signed/);
});

test('a receipt that another key has signed is refused', () => {
  expect(() => opened(envelope, [other])).toThrow(`signed with another key than the given ones: ${own.kid}`);
  expect(() => opened(envelope, [])).toThrow('signed with another key');
});

test('other statements are no receipts', () => {
  const statement = statementOf(subject, receipt) as Record<string, unknown>;
  for (const changed of [
    null,
    {},
    { ...statement, _type: 'https://in-toto.io/Statement/v0.1' },
    { ...statement, predicateType: 'https://slsa.dev/provenance/v1' },
    { ...statement, subject: [] },
    { ...statement, subject: [{ name: 'x', digest: { gitCommit: 'a' } }] },
    { ...statement, predicate: { ...receipt, checks: 'all passed' } },
    { ...statement, predicate: undefined },
  ])
    expect(() => readStatement(changed)).toThrow(/receipt/);
});
