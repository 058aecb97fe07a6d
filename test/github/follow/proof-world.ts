import { type Place, placeOfEvent } from '../../../src/github/app/place.ts';
import { followBases, proveAgainJob, proveMissed } from '../../../src/github/follow/prove-pulls.ts';
import { parsePayload } from '../../../src/github/inbox/receive.ts';
import { followBaseFrom, storeCommits } from '../../../src/runs/pull-proofs/outdated-proofs.ts';
import { storeJudged } from '../../../src/runs/pull-proofs/pull-proofs.ts';
import type { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';
import { ada, branchIs, firstOfBase, place, proofsOfHead, pullOf } from '../mirror/proofs-of-head.ts';

type Acme = ReturnType<typeof openAcme>;
export type World = Awaited<ReturnType<typeof opened>>;

export const [first, second, third] = [firstOfBase, '2'.repeat(40), '3'.repeat(40)];
export const below = 'c'.repeat(40);
export const headOf8 = 'b'.repeat(40);

/** A repository with pull request 7, which has a commit below its head. Its proof is not begun. */
export async function opened(acme: Acme, base = 'main') {
  const world = await proofsOfHead(acme);
  const { em, own, mirror, told } = world;
  await em.query(`delete from pgboss.job where name = 'proof'`);
  const row = async (number: number) =>
    (await em.query('select run_id as "runId", base_branch as base from pull_proofs where number = $1', [number]))[0];
  /** What a run stores before it judges. */
  const begin = async (number: number, at = first) => {
    const { runId, base: branch } = await row(number);
    await storeCommits(em, runId, number === 7 ? [below] : []);
    await followBaseFrom(em, own.id, { branch, head: at });
  };
  /** What it does in the end. */
  const end = async (number: number, rules?: string) => {
    const { runId } = await row(number);
    const proof = { status: 'no_tests' as const, reason: null };
    const commits = number === 7 ? [below] : [];
    const found = { proof, notes: [], seconds: 1, fingerprint: `of ${number}`, commits };
    await storeJudged(em, runId, rules === undefined ? found : { ...found, settings: { rules, isRequired: true } });
    await em.query(`update runs set status = 'succeeded', finished_at = now(), lease_until = null where id = $1`, [
      runId,
    ]);
    await em.query(`update tasks set status = 'done' where hidden`);
    await mirror(number);
  };
  const list = (...pulls: { number: number; sha?: string; updated?: string; user?: typeof ada }[]) => {
    around.pages['/pulls'] = pulls.map(({ updated = '2020-01-01T00:00:00Z', ...pull }) => {
      const { merged: _, ...listed } = pullOf({ ...pull, base });
      return { ...listed, updated_at: updated };
    });
  };
  const compared = (from: string, to: string, shas: string[], behind = 0) => {
    around.pages[`/compare/${from}...${to}`] = {
      behind_by: behind,
      total_commits: shas.length,
      commits: shas.map((sha) => ({ sha })),
    };
  };
  const sweep = async () => {
    const there = await placeOfEvent(acme.service.app, place.installation, place.repository);
    await followBases(acme.service.app, there as Place, () => false);
    await proveMissed(acme.service.app, there as Place, () => false);
  };
  const pushed = async (before: string, after: string, commits: string[], more: object = {}) => {
    const payload = {
      ...{ ref: `refs/heads/${base}`, before, after, forced: false, deleted: false, created: false, sender: ada },
      ...{ ...place, repository: { ...place.repository, default_branch: 'main' } },
      ...{ commits: commits.map((id) => ({ id })), ...more },
    };
    const parsed = await parsePayload(JSON.stringify(payload));
    await acme.service.app.github?.receive({ id: `${Math.random()}`, name: 'push', payload: parsed } as never);
  };
  /** The pull requests whose proofs count no longer. */
  const outdated = async () => {
    const rows: { number: number }[] = await em.query(
      'select number from pull_proofs where outdated_reason is not null order by number',
    );
    return rows.map(({ number }) => number);
  };
  const followed = async () => {
    const rows: { sha: string }[] = await em.query('select head_sha as sha from proof_bases');
    return rows.map(({ sha }) => sha);
  };
  const jobs = async () => {
    const rows: { data: { number: number } }[] = await em.query(
      `select data from pgboss.job where name = 'proof' and state < 'completed'`,
    );
    return rows.map(({ data }) => data.number).sort();
  };
  const proveAgain = async () => {
    for (const number of await jobs()) await proveAgainJob(acme.service.app, { repositoryId: own.id, number });
  };
  await told('opened', { number: 7, base });
  list({ number: 7 });
  branchIs(base, first);
  return { ...world, begin, end, list, compared, sweep, pushed, outdated, followed, jobs, proveAgain };
}

/** Both pull requests are proved. */
export async function proved(acme: Acme, base = 'main') {
  const world = await opened(acme, base);
  await world.told('opened', { number: 8, sha: headOf8, base });
  for (const number of [7, 8]) {
    await world.begin(number);
    await world.end(number);
  }
  world.list({ number: 7 }, { number: 8, sha: headOf8 });
  return world;
}

export const say = (checks: string) => {
  const text = `checks: [${checks}]\nprove: { everyone: required }\n`;
  around.pages['/contents/.deckhand.yml'] = { encoding: 'base64', content: Buffer.from(text).toString('base64') };
};
