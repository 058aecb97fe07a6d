import type { App } from '../../../src/app.ts';
import { MoveRefused, moveBranch, pushNew, removeRef, signedOrNot } from '../../../src/worker/publish/sign.ts';
import type { Work } from '../../../src/worker/work.ts';

const unsigned = { commit: 'c'.repeat(40), tree: 'tree', parents: ['parent'], message: 'm\n' };
const signedCommit = 'd'.repeat(40);
const verification = { verified: true, reason: 'valid' };
const made = { sha: signedCommit, tree: { sha: 'tree' }, parents: [{ sha: 'parent' }], verification };

const refusal = (status: number) =>
  Object.assign(new Error('refused'), { name: 'HttpError', status, response: { headers: {} } });

/** A run with one repository on a GitHub that answers so. An answer that is a number is a refusal with that status. */
function openRun(answer: (route: string, given: Record<string, unknown>) => unknown, { verified = 'auto' } = {}) {
  const steps = new Map<string, unknown>();
  const [log, asked]: [string[], string[]] = [[], []];
  const em = {
    query: async (sql: string, values: unknown[] = []) => {
      if (sql.startsWith('insert into run_steps')) steps.set(String(values[1]), JSON.parse(String(values[2])));
      if (sql.startsWith('delete from run_steps')) steps.delete(String(values[1]));
      if (sql.startsWith('insert into run_events')) log.push(String(values[2]));
      return [];
    },
  };
  const request = async (route: string, given: Record<string, unknown>) => {
    asked.push(route);
    const data = answer(route, given);
    if (typeof data === 'number') throw refusal(data);
    return { data };
  };
  const github = { signing: new Map(), asInstallation: async () => ({ request }) };
  const app = {
    github,
    db: { transaction: (work: (given: typeof em) => unknown) => work(em) },
    log: { warn: () => {} },
  } as unknown as App;
  const refs = new Set<string>();
  const work = {
    settings: { verified },
    run: { id: 'run_1' },
    task: { repositoryId: 'repo_1' },
    repository: { id: 'repo_1' },
    credential: { kind: 'installation', installationId: 1, owner: 'acme', repo: 'r' },
    branch: { name: 'agent/x', from: 'parent', continues: true },
    signal: new AbortController().signal,
    journal: {
      recall: async (name: string) => steps.get(name),
      write: (act: (given: typeof em) => unknown) => act(em),
    },
    checkout: {
      treeOf: async (commit: string) => `tree of ${commit}`,
      pushAside: async (_commit: string, name: string) => refs.add(name),
      removeAside: async (name: string) => refs.delete(name),
    },
  } as unknown as Work;
  return { app, work, log, asked, refs, steps, signing: { faults: 0, hasRef: false } };
}

/** Answers the question whether commits are signed, and leaves the commit itself to `answer`. */
const afterQuestion = (answer: () => unknown) => (_route: string, given: Record<string, unknown>) =>
  given.tree === 'tree' ? answer() : { ...made, tree: { sha: String(given.tree) } };

test('GitHub makes the commit once, and names neither author nor committer', async () => {
  const given: Record<string, unknown>[] = [];
  const run = openRun((_route, each) => {
    given.push(each);
    return made;
  });
  expect(await signedOrNot(run.app, run.work, unsigned, run.signing)).toBe(signedCommit);
  expect([...run.refs]).toEqual(['run_1']);
  const next = { faults: 0, hasRef: false };
  expect(await signedOrNot(run.app, run.work, unsigned, next)).toBe(signedCommit);
  expect(given.map(({ tree, parents }) => [tree, parents])).toEqual([
    ['tree of parent', ['parent']],
    ['tree', ['parent']],
  ]);
  expect(given.some((each) => 'author' in each || 'committer' in each)).toBe(false);
  // The worker that takes over removes the ref, too.
  await removeRef(run.app, { ...run.work, name: 'run_1' }, next);
  expect([[...run.refs], run.log]).toEqual([[], []]);
});

test.each([
  403, 404, 405, 409, 422, 501,
])('a host that answers %i gets the commit as it is, and the log says so once', async (status) => {
  const run = openRun(() => status);
  expect(await signedOrNot(run.app, run.work, unsigned, run.signing)).toBe(unsigned.commit);
  expect(await signedOrNot(run.app, run.work, unsigned, run.signing)).toBe(unsigned.commit);
  expect([run.asked.length, run.refs.size, run.signing.hasRef]).toEqual([1, 0, false]);
  expect(run.log).toEqual([`the commit is not signed by GitHub: GitHub answered HTTP ${status}: refused`]);
});

test('a host that does not sign is asked once for all runs of an installation', async () => {
  const run = openRun(() => ({ ...made, verification: { verified: false, reason: 'unsigned' } }));
  for (const commit of ['1', '2'])
    expect(await signedOrNot(run.app, run.work, { ...unsigned, commit }, run.signing)).toBe(commit);
  expect([run.asked.length, run.refs.size]).toEqual([1, 0]);
  expect(run.log).toEqual(
    Array(2).fill('the commit is not signed by GitHub: the host made a commit that is not verified (unsigned)'),
  );
});

test.each([
  ['a web page', () => '<html>'],
  ['nothing', () => undefined],
  ['an unsigned commit', () => ({ ...made, verification: { ...verification, verified: false } })],
  ['a refusal for its size', () => 422],
])('instead of the commit the host sends %s: pushed as it is', async (_what, answer) => {
  const run = openRun(afterQuestion(answer));
  expect(await signedOrNot(run.app, run.work, unsigned, run.signing)).toBe(unsigned.commit);
  expect([run.log.length, run.signing.hasRef]).toEqual([1, true]);
});

test.each([
  ['tree', { tree: { sha: 'another' } }],
  ['parent', { parents: [{ sha: 'another' }] }],
  ['second parent', { parents: [{ sha: 'parent' }, { sha: 'another' }] }],
])('a signed commit with another %s is refused', async (_what, other) => {
  const run = openRun(afterQuestion(() => ({ ...made, ...other })));
  await expect(signedOrNot(run.app, run.work, unsigned, run.signing)).rejects.toThrow('of other files or parents');
  expect(run.steps.size).toBe(0);
});

test('temporary faults are left to the run for a while, and then the commit is pushed as it is', async () => {
  const run = openRun(afterQuestion(() => 502));
  const attempt = () => signedOrNot(run.app, run.work, unsigned, run.signing);
  await expect(attempt()).rejects.toThrow('refused');
  await expect(attempt()).rejects.toThrow('refused');
  expect(await attempt()).toBe(unsigned.commit);
});

test('nothing is asked for a repository without the App, for verified: never, and for a push that has begun', async () => {
  const without = openRun(() => made);
  Object.assign(without.work, { credential: { kind: 'git-token', token: 'x', owner: 'acme', repo: 'r' } });
  const never = openRun(() => made, { verified: 'never' });
  const begun = openRun(() => made);
  begun.steps.set('pushing', { branch: 'agent/x', commit: unsigned.commit });
  for (const run of [without, never, begun]) {
    expect(await signedOrNot(run.app, run.work, unsigned, run.signing)).toBe(unsigned.commit);
    expect(run.asked).toEqual([]);
  }
  expect(without.log).toEqual(['the commit is not signed by GitHub: the repository is reached without the GitHub App']);
  expect([never.log, begun.log]).toEqual([[], []]);
});

/** Answers a move with this status, and shows this head afterwards. */
const moving = (status: number, head: string | undefined, continues = true) => {
  const run = openRun((route) =>
    route.startsWith('GET ') ? (head === undefined ? 404 : { commit: { sha: head } }) : status,
  );
  Object.assign(run.work.branch, { continues });
  return moveBranch(run.app, run.work, signedCommit);
};

test('a branch moves by compare and swap', async () => {
  const routes: unknown[] = [];
  for (const continues of [true, false]) {
    const run = openRun((route, { ref, sha, force }) => void routes.push([route.split(' ')[0], ref, sha, force]));
    Object.assign(run.work.branch, { continues });
    await moveBranch(run.app, run.work, signedCommit);
  }
  expect(routes).toEqual([
    ['PATCH', 'heads/agent/x', signedCommit, false],
    ['POST', 'refs/heads/agent/x', signedCommit, undefined],
  ]);
});

test('a move is compared with the head of the branch when it fails', async () => {
  // The answer was lost.
  await moving(502, signedCommit);
  await moving(422, signedCommit, false);
  await expect(moving(502, 'parent')).rejects.toMatchObject({ status: 502 });
  // Somebody else was faster.
  for (const continues of [true, false])
    await expect(moving(422, 'theirs', continues)).rejects.toMatchObject({ fault: 'rejected' });
  await expect(moving(422, 'parent', false)).rejects.toMatchObject({ fault: 'rejected' });
  // GitHub refuses for another reason, or somebody has deleted the branch: git pushes, and says why it cannot.
  await expect(moving(403, 'parent')).rejects.toThrow(MoveRefused);
  await expect(moving(422, undefined)).rejects.toThrow(MoveRefused);
  await expect(moving(403, undefined, false)).rejects.toThrow(MoveRefused);
});

test.each<[string, (() => unknown) | number, string[], string[]]>([
  ['made by GitHub', () => made, ['question', 'commit', 'branch'], []],
  ['pushed where GitHub does not make it', () => 404, ['question'], [unsigned.commit]],
  ['pushed at the first fault', () => 502, ['question'], [unsigned.commit]],
  ['pushed where GitHub does not move the branch', 403, ['question', 'commit', 'branch', 'head'], [unsigned.commit]],
])('outside of a run, a commit is %s', async (_how, answer, expected, pushed) => {
  const names: string[] = [];
  const nameOf = (route: string, tree: unknown) => {
    if (route.startsWith('GET ')) return 'head';
    if (route.endsWith('/refs')) return 'branch';
    return tree === 'tree' ? 'commit' : 'question';
  };
  const run = openRun((route, { tree }) => {
    const name = nameOf(route, tree);
    names.push(name);
    if (name === 'head') return 404;
    if (typeof answer === 'function') return name === 'branch' ? {} : answer();
    return name === 'branch' ? answer : made;
  });
  const plain: string[] = [];
  const push = async (commit: string, branch: string) => void plain.push(`${commit} ${branch}`);
  const place = { ...run.work, checkout: { ...run.work.checkout, push }, branch: 'agent/new', name: 'plan_1' };
  await pushNew(run.app, place, unsigned);
  expect([names, plain, run.refs.size]).toEqual([expected, pushed.map((commit) => `${commit} agent/new`), 0]);
});
