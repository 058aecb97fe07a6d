import { secretBox } from '../../src/db/sealed.ts';

const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const place = { table: 'project_secrets', row: 'proj_1/git_token', column: 'ciphertext', project: 'proj_1' };

test('a secret can be decrypted at its place', () => {
  const box = secretBox(() => [one]);
  const sealed = box.seal('ghp_canary', place);
  expect(sealed.ciphertext.toString('latin1')).not.toContain('canary');
  expect(box.open(sealed, place)).toBe('ghp_canary');
});

test('a secret that was changed, or moved to another row, column or project, cannot be decrypted', () => {
  const box = secretBox(() => [one]);
  const sealed = box.seal('ghp_canary', place);
  for (const other of [{ row: 'proj_2/git_token' }, { column: 'x' }, { project: 'proj_2' }, { table: 'y' }])
    expect(() => box.open(sealed, { ...place, ...other })).toThrow();
  const changed = Buffer.from(sealed.ciphertext);
  changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
  expect(() => box.open({ ...sealed, ciphertext: changed }, place)).toThrow();
});

test('the previous key can still decrypt; the new key encrypts', () => {
  const old = secretBox(() => [one]).seal('value', place);
  const box = secretBox(() => [two, one]);
  expect(box.open(old, place)).toBe('value');
  expect(box.seal('value', place).keyId).not.toBe(old.keyId);
  expect(() => secretBox(() => [two]).open(old, place)).toThrow(/ENCRYPTION_KEY_PREVIOUS/);
});
