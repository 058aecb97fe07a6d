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
