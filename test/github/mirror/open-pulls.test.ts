import type { Place } from '../../../src/github/app/place.ts';
import { openBases } from '../../../src/github/mirror/proofs/strangers.ts';
import { listOpenPulls } from '../../../src/github/paginate.ts';
import { octokitFor } from '../../support/github-app.ts';
import { listedPulls, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

const pull = (number: number, base = 'main') => ({ number, head: { sha: `head ${number}` }, base: { ref: base } });
const name = { owner: 'acme', repo: 'app' };

/** Lists the pull requests of a GitHub on which something happens after each page. */
async function listed(pulls: ReturnType<typeof pull>[], happens: () => void = () => {}, base?: string) {
  let pages = 0;
  const github = await openFakeGitHub([
    [
      /^POST \/graphql$/,
      (_match, _res, body) => {
        const page = listedPulls(pulls, body);
        pages += 1;
        happens();
        return page;
      },
    ],
  ]);
  try {
    return { found: await listOpenPulls(octokitFor(github.url), name, base), pages };
  } finally {
    github.close();
  }
}
const many = (count: number) => Array.from({ length: count }, (_, i) => pull(i + 1));

test('a pull request that is closed while pages are read pushes no other one off them', async () => {
  const pulls = many(150);
  const { found, pages } = await listed(pulls, () =>
    pulls.splice(
      pulls.findIndex(({ number }) => number === 150),
      1,
    ),
  );
  expect([found.length, pages]).toEqual([150, 2]);
  expect(found.at(-1)).toEqual({
    number: 1,
    headSha: 'head 1',
    base: 'main',
    updatedAt: '2020-01-01T00:00:00Z',
    isFork: false,
  });
});

test('only those into one branch are listed', async () => {
  const { found } = await listed([pull(1), pull(2, 'next'), pull(3)], undefined, 'next');
  expect(found.map(({ number }) => number)).toEqual([2]);
});

test('at most 1,000 are listed, the newest ones', async () => {
  const { found, pages } = await listed(many(1100));
  expect([found.length, pages, found[0]?.number, found.at(-1)?.number]).toEqual([1000, 10, 1100, 101]);
});

test('a repository that is gone is an error, as are answers of another form', async () => {
  const github = await openFakeGitHub([
    [
      /^POST \/graphql$/,
      () => ({ data: { repository: null }, errors: [{ type: 'NOT_FOUND', message: 'Could not resolve' }] }),
    ],
  ]);
  await expect(listOpenPulls(octokitFor(github.url), name)).rejects.toThrow('Could not resolve');
  github.close();
  const other = await openFakeGitHub([[/^POST \/graphql$/, () => ({ data: {} })]]);
  await expect(listOpenPulls(octokitFor(other.url), name)).rejects.toThrow('repository');
  other.close();
});

test('where GitHub no longer shows the repository, none of its pull requests counts as open', async () => {
  const errors = [{ type: 'NOT_FOUND', path: ['repository'], message: 'Could not resolve to a Repository' }];
  const github = await openFakeGitHub([[/^POST \/graphql$/, () => ({ data: { repository: null }, errors })]]);
  const place = { octokit: octokitFor(github.url), name } as Place;
  expect(await openBases(place, [7, 8], 'a'.repeat(40))).toEqual(new Map());
  github.close();
});
