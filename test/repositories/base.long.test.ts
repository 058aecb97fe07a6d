import type { Checkout } from '../../src/git/engine.ts';
import { remoteFor } from '../../src/repositories/credentials.ts';
import { noSettings, parseSettings, readBase } from '../../src/repositories/settings/repository-settings.ts';
import { openAcme } from '../support/stand-ins/acme.ts';

/** A repository whose branches have these settings; undefined for none. */
function base(branches: Record<string, string | undefined>, onGitHub: string | undefined, inProject = 'main') {
  const checkout = {
    fetch: async (branch: string) => (branch in branches ? `head of ${branch}` : undefined),
  } as unknown as Checkout;
  const settingsAt = async (commit: string) => {
    const text = branches[commit.slice('head of '.length)];
    return text === undefined ? noSettings : parseSettings(Buffer.from(text));
  };
  const repository = { defaultBranch: inProject };
  return readBase(checkout, { repository, remote: { defaultBranch: onGitHub } }, settingsAt);
}

test('tasks start from the default branch of the project, but the settings are those of the one on GitHub', async () => {
  const found = await base({ main: 'checks: [strict]', theirs: 'checks: [easy]' }, 'main', 'theirs');
  expect(found).toMatchObject({ branch: 'theirs', head: 'head of theirs', settings: { checks: ['strict'] } });
  // Otherwise everybody who may push a branch could decide how the environment is made.
  expect(found.trusted).toBe('head of main');
});

test('the settings may name the branch from which tasks start', async () => {
  const found = await base({ main: 'base: next', next: 'checks: [easy]', theirs: '' }, 'main', 'theirs');
  expect(found).toMatchObject({
    branch: 'next',
    head: 'head of next',
    trusted: 'head of next',
    settings: { checks: [] },
  });
});

test('a host that says nothing has the default branch of the project', async () => {
  const found = await base({ main: 'checks: [strict]', theirs: 'checks: [easy]' }, undefined, 'theirs');
  expect(found).toMatchObject({ branch: 'theirs', trusted: 'head of theirs', settings: { checks: ['easy'] } });
});

test.each([
  [{}, 'main', 'the repository has no branch main; push a first commit, or set the default branch of the repository'],
  [{ master: '' }, 'master', 'the repository has no branch main; set its default branch to master'],
  [{ main: 'base: gone' }, 'main', 'base: there is no branch gone'],
])('a branch that is missing in %j is named', async (branches, onGitHub, message) => {
  await expect(base(branches, onGitHub)).rejects.toThrow(message);
});

const acme = openAcme();

test('GitHub says which branch is the default one, whatever the project calls so', async () => {
  const { own, call } = await acme.twoPeople();
  await call('ada', 'PATCH', `/repositories/${own.id}`, { defaultBranch: 'theirs' });
  const { app } = acme.service;
  const credential = { kind: 'installation', installationId: 1, owner: 'acme', repo: 'app', githubId: 1 } as const;
  const remote = await remoteFor(app, { ...own, defaultBranch: 'theirs' }, credential, { contents: 'read' });
  expect(remote.defaultBranch).toBe('main');
});
