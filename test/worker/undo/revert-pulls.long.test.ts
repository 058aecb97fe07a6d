import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Revert, revertAll, revertedCommit } from '../../../src/worker/workspace/revert-pulls.ts';
import { at, author, forEachEngine } from '../../support/each-engine.ts';

forEachEngine((given) => {
  /** Opens a checkout, and a function that commits files on top of some commits. */
  const open = async () => {
    const { checkout, base } = await given.open();
    const commit = async (parents: string[], files: Record<string, string | null>) => {
      await checkout.checkout(parents[0] as string);
      for (const [path, text] of Object.entries(files))
        if (text === null) rmSync(join(checkout.workTree, path));
        else writeFileSync(join(checkout.workTree, path), text);
      return checkout.commit({ tree: await checkout.snapshot(), parents, message: 'change', author, at });
    };
    return { checkout, base, commit };
  };
  const lines = (...changed: string[]) => ['1', '2', '3', '4', '5', '6', '7', '8', ...changed, ''].join('\n');
  const revert = (before: string, commit: string): Revert => ({
    number: 1,
    url: 'https://github.test/1',
    before,
    commit,
  });

  test('a squash, a merge commit and a rebase are reverted, and what others changed since then stays', async () => {
    const { checkout, base, commit } = await open();
    const squash = await commit([base], { 'a.txt': lines('a'), 'README.md': 'changed\n' });
    const side = await commit([squash], { 'b.txt': 'b\n' });
    const merge = await commit([squash, side], { 'b.txt': 'b\n' });
    const one = await commit([merge], { 'c.txt': 'c\n' });
    const two = await commit([one], { 'd.txt': 'd\n', 'a.txt': `0\n${lines('a')}` });
    const later = await commit([two], { 'later.txt': 'l\n' });
    await checkout.push(later, 'merged');
    const expected = async (from: string, files: Record<string, string | null>) =>
      checkout.treeOf(await commit([from], files));
    const rebased = await revertAll(checkout, later, [revert(merge, two)]);
    expect(rebased).toEqual({
      tree: await expected(merge, { 'later.txt': 'l\n' }),
      conflicts: [],
    });
    expect(await revertAll(checkout, later, [revert(squash, merge)])).toEqual({
      tree: await expected(later, { 'b.txt': null }),
      conflicts: [],
    });
    const all = [revert(merge, two), revert(squash, merge), revert(base, squash)];
    const begun = await revertedCommit(checkout, later, { pulls: all, conflicts: [] });
    expect(await checkout.treeOf(begun)).toBe(await expected(base, { 'later.txt': 'l\n' }));
    // Every worker makes the same commit.
    expect(await revertedCommit(checkout, later, { pulls: all, conflicts: [] })).toBe(begun);
  });

  test('lines that others changed since then conflict, and a missing commit is named', async () => {
    const { checkout, base, commit } = await open();
    const change = await commit([base], { 'README.md': 'ours\n' });
    const later = await commit([change], { 'README.md': 'ours, and more\n', 'other.txt': 'x\n' });
    await checkout.push(later, 'conflicting');
    const { tree, conflicts } = await revertAll(checkout, later, [revert(base, change)]);
    expect(conflicts).toEqual(['README.md']);
    const found = (await checkout.files(tree)).get('README.md')?.oid ?? '';
    const text = (await checkout.readBlobs([found])).get(found)?.toString('utf8');
    expect(text).toMatch(/^<<<<<<< [^\n]*\nours, and more\n=======\n/);
    await expect(revertAll(checkout, later, [revert(base, 'f'.repeat(40))])).rejects.toThrow(
      `https://github.test/1 cannot be reverted, because its commit ${'f'.repeat(40)} no longer exists`,
    );
  });
}, true);
