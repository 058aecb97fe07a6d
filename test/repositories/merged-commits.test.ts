import { mergedCommits } from '../../src/repositories/merging/merged-commits.ts';

type Shown = [oid: string, message: string, parents: string[]];

const onBranch = ([oid, message, parents]: Shown) => ({
  ...{ oid, message, authoredDate: `date of ${message}` },
  parents: { nodes: parents.map((id) => ({ oid: id })) },
});

/** Finds what a merge put onto its branch: `history` is that of the branch, the latest first, `own` are the messages of the pull
 * request, the oldest first. */
const found = (history: Shown[], own: string[], totalCount = own.length) => {
  const nodes = history.map(onBranch);
  const commits = own.map((message) => ({ commit: { message, authoredDate: `date of ${message}` } }));
  const [merge] = nodes;
  if (merge === undefined) throw new Error('no history');
  return mergedCommits({ ...merge, history: { nodes } }, { totalCount, nodes: commits });
};

test('a merge commit is one commit, after its first parent', () => {
  const history: Shown[] = [
    ['m', 'Merge', ['base', 'two']],
    ['two', 'second', ['one']],
  ];
  expect(found(history, ['first', 'second'])).toEqual({ commit: 'm', before: 'base' });
});

test('a squash is one commit, also if it is called as the last commit of the pull request was', () => {
  const before: Shown = ['base', 'before', ['older']];
  expect(found([['s', 'all (#1)', ['base']], before], ['first', 'second'])).toEqual({ commit: 's', before: 'base' });
  expect(found([['s', 'first', ['base']], before], ['first'])).toEqual({ commit: 's', before: 'base' });
});

test('a rebase is as many commits as the pull request has, without those that changed nothing any more', () => {
  const history: Shown[] = [
    ['c2', 'second', ['c1']],
    ['c1', 'first', ['base']],
    ['base', 'before', ['older']],
  ];
  expect(found(history, ['first', 'second'])).toEqual({ commit: 'c2', before: 'base' });
  expect(found(history, ['first', 'empty', 'second'])).toEqual({ commit: 'c2', before: 'base' });
});

test('nothing is guessed where GitHub does not show the whole rebase, or the first commit of a branch', () => {
  const history: Shown[] = [
    ['c2', 'second', ['c1']],
    ['c1', 'first', ['c0']],
    ['c0', 'zeroth', ['base']],
  ];
  expect(found(history, ['first', 'second'], 101)).toBeUndefined();
  expect(found([['c2', 'second', ['c1']]], ['first', 'second'])).toBeUndefined();
  expect(found([['root', 'all', []]], ['first', 'second'])).toBeUndefined();
});
