import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { proveAfterSettings } from '../../../src/github/follow/prove-pulls.ts';
import { rulesForEverybody } from '../../../src/repositories/settings/repository-settings.ts';
import { settingsOnGitHub } from '../../../src/repositories/settings/settings-on-github.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';
import { head, ofTask, proofsOfHead, pullOf } from './proofs-of-head.ts';

const acme = openAcme();

describe("when a task's pull request gets a head that another one has had proved for its branch,", () => {
  const later = 'b'.repeat(40);
  /** A run of the task weakened tests in the head. Pull request 8 goes with it into a branch that has them already. */
  async function weakenedTask(at: string, base?: string) {
    const given = await proofsOfHead(acme);
    const task = await ofTask(acme, given);
    await task.isMade(head, 'weakened', 'main');
    await task.isAt(at, base);
    for (const sha of [head, later]) around.pages[`/git/commits/${sha}`] = { sha, author: { email: 'x' }, parents: [] };
    const told = (action: string, pull: object = {}, changes?: object) =>
      given.told(action, { number: 7, user: task.user, ...pull }, changes);
    around.pages['/pulls/7'] = pullOf({ number: 7, user: task.user, sha: at, ...(base === undefined ? {} : { base }) });
    return { ...given, told };
  }

  test('by a push, that is shown', async () => {
    const { told, opened, latest } = await weakenedTask(later);
    await opened({ number: 8, base: 'side' }, 'no_tests');
    expect(latest()).toMatch(/^neutral: /);
    await told('synchronize');
    expect(latest()).toMatch(/^failure: Pull request #7: Tests were weakened/);
  });

  test('because it is reopened, that is shown', async () => {
    const { told, opened, latest } = await weakenedTask(head);
    await told('closed', { state: 'closed' });
    await opened({ number: 8, base: 'side' }, 'no_tests');
    expect(latest()).toMatch(/^neutral: /);
    await told('reopened');
    expect(latest()).toMatch(/^failure: Pull request #7: Tests were weakened/);
  });

  test('because it is reopened after the other one was merged, that is shown', async () => {
    const { told, opened, mirror, latest, em } = await weakenedTask(head);
    await told('closed', { state: 'closed' });
    await opened({ number: 8, base: 'side' }, 'no_tests');
    around.pages['/pulls/8'] = { ...pullOf({ number: 8, base: 'side', state: 'closed' }), merged: true };
    await em.query(`update pull_proofs set outdated_reason = 'its base branch has changed'`);
    await mirror(8);
    expect(latest()).toMatch(/^neutral: /);
    await told('reopened');
    expect(latest()).toMatch(/^failure: Pull request #7: Tests were weakened/);
  });

  test('because it goes into another branch, that is shown', async () => {
    const { told, opened, latest, em } = await weakenedTask(head, 'x');
    await em.query(
      `update proofs set status = 'proved', parts = replace(parts::text, 'weakened', 'proved')::jsonb,
         bases = replace(bases::text, 'main', 'x')::jsonb`,
    );
    await opened({ number: 8, base: 'side' }, 'no_tests');
    expect(latest()).toMatch(/^neutral: /);
    await told('edited', {}, { base: { ref: { from: 'x' } } });
    expect(latest()).toBe('action_required: Pull request #7: This commit was not proved for its base branch');
  });
});

test('what a run proved with other settings counts no longer', async () => {
  const given = await proofsOfHead(acme);
  const { em, own, opened, mirror, latest } = given;
  const { app } = acme.service;
  const task = await ofTask(acme, given);
  await task.isMade(head, 'unproved', 'main');
  await task.isAt(head);
  around.pages['/pulls/7'] = pullOf({ number: 7, user: task.user });
  const there = (await placeOfRepository(app, own.id)) as Place;
  const read = () => settingsOnGitHub(there.octokit, there.name);
  const proved = async () =>
    em.query(
      `update proofs set bases = jsonb_build_object($1::text, jsonb_build_object('branch', 'main', 'rules', $2::text))`,
      [own.id, rulesForEverybody(await read())],
    );
  await proved();
  await opened({ number: 8, base: 'side' }, 'no_tests');
  expect(latest()).toMatch(/^neutral: Pull request #7: Not proved/);

  const text = 'checks: [node --test, npm run lint]\nprove: { everyone: required }\n';
  around.pages['/contents/.deckhand.yml'] = { encoding: 'base64', content: Buffer.from(text).toString('base64') };
  around.pages['/pulls'] = [pullOf({ number: 7, user: task.user }), pullOf({ number: 8, base: 'side' })];
  await proveAfterSettings(app, there);
  // Pull request 8 is proved again, with the same result.
  const shownAgain = async () => {
    await em.query(`update pull_proofs set outdated_reason = null, check_shown = null`);
    await mirror(8);
  };
  await shownAgain();
  expect(latest()).toBe('action_required: Pull request #7: This commit was not proved for its base branch');
  await proved();
  await shownAgain();
  expect(latest()).toMatch(/^neutral: Pull request #7: Not proved/);
});
