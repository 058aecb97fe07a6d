import { showHeadJob } from '../../../src/github/mirror/proofs/show-proofs.ts';
import { syncTask } from '../../../src/github/mirror/sync.ts';
import type { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, people, shown } from '../../support/stand-ins/named-github.ts';

type Acme = ReturnType<typeof openAcme>;

export const head = 'a'.repeat(40);
export const ada = shown(400, 'ada');
export const eve = shown(500, 'eve');
export const place = {
  installation: { id: 1 },
  repository: { id: 1, full_name: 'acme/app', owner: { login: 'acme' }, name: 'app', private: true },
};

interface Pull {
  number: number;
  base?: string;
  sha?: string;
  state?: 'open' | 'closed';
  user?: typeof ada;
}

export const pullOf = ({ number, base = 'main', sha = head, state = 'open', user = ada }: Pull) => ({
  ...{ number, state, title: `P${number}`, body: '', html_url: `https://github.com/acme/app/pull/${number}` },
  ...{ user, draft: false, labels: [], merged: false, merged_at: null, updated_at: new Date().toISOString() },
  // A stranger has a fork.
  head: { ref: `topic-${number}`, sha, user, repo: { id: user === eve ? 99 : 1, full_name: `${user.login}/app` } },
  base: { ref: base, sha: '0'.repeat(40), repo: { id: 1, full_name: 'acme/app', default_branch: 'main' } },
});

/** The commit of each base branch when the first proof begins. */
export const firstOfBase = '1'.repeat(40);

/** Sets the commit of a branch; without one, there is no such branch. */
export function branchIs(branch: string, sha: string | undefined): void {
  around.pages[`/git/ref/heads%2F${branch}`] =
    sha === undefined ? undefined : { ref: `refs/heads/${branch}`, object: { type: 'commit', sha } };
}

export function settingsSay(everyone: string) {
  const settings = Buffer.from(`checks: [node --test]\nprove: { everyone: ${everyone} }\n`).toString('base64');
  around.pages['/contents/.deckhand.yml'] = { encoding: 'base64', content: settings };
}

/** Records what the check runs of commits show. */
function recordedChecks() {
  const checks = new Map<number, { sha: string; says: string }>();
  let created = 0;
  around.writes['POST /repos/acme/app/check-runs'] = {
    status: 201,
    // The stand-in answers each request with the same object.
    body: Object.defineProperty({}, 'id', { enumerable: true, get: () => ++created }),
  };
  /** Does a job and notes what it shows in check runs. */
  const watched = async (job: () => Promise<unknown>) => {
    asked.length = 0;
    let made = created;
    await job();
    for (const { path, body } of asked.filter((each) => each.path.includes('/check-runs'))) {
      const known = /check-runs\/(\d+)$/.exec(path)?.[1];
      const checkId = known === undefined ? ++made : Number(known);
      const says = `${body.conclusion ?? body.status}: ${(body.output as { title: string }).title}`;
      checks.set(checkId, { sha: String(body.head_sha ?? checks.get(checkId)?.sha), says });
    }
  };
  const latest = (sha = head) =>
    [...checks].filter(([, check]) => check.sha === sha).sort(([a], [b]) => b - a)[0]?.[1].says;
  return { watched, latest };
}

/** A repository that requires proofs. `latest` is what the newest check run of a commit shows. */
export async function proofsOfHead(acme: Acme, everyone: 'required' | 'true' = 'required') {
  const { em, own, projectId, ids } = await acme.twoPeople();
  people.set(400, 'ada').set(500, 'eve');
  for (const table of ['pull_asks', 'pull_proofs', 'proof_bases', 'proof_evidence', 'reviewed_pulls', 'tasks'])
    await em.query(`delete from ${table}`);
  const { watched, latest } = recordedChecks();
  settingsSay(everyone);
  branchIs('main', firstOfBase);

  /** Does the mirror jobs of some pull requests, and the jobs for heads that wait. */
  const mirror = async (...numbers: number[]) => {
    const rows: { id: string }[] = await em.query(
      `select task_id as id from reviewed_pulls where number = any($1) and purpose = 'proof'`,
      [numbers],
    );
    for (const { id } of rows) await watched(() => syncTask(acme.service.app, { taskId: id, recheck: false } as never));
    const [jobs]: [{ data: Parameters<typeof showHeadJob>[1] }[]] = await em.query(
      `delete from pgboss.job where name = 'proofCheck' returning data`,
    );
    for (const { data } of jobs) await watched(() => showHeadJob(acme.service.app, data));
  };
  const told = async (action: string, pull: Pull, changes?: object) => {
    around.pages[`/commits/${pull.sha ?? head}/check-runs`] = { total_count: 0, check_runs: [] };
    around.pages[`/pulls/${pull.number}`] = pullOf(pull);
    const payload = {
      action,
      number: pull.number,
      sender: pull.user ?? ada,
      ...place,
      pull_request: pullOf(pull),
      changes,
    };
    await acme.service.app.github?.receive({ id: `${Math.random()}`, name: 'pull_request', payload } as never);
    await mirror(pull.number);
  };
  /** Ends the proof of a head, as the run does. */
  const judge = async (number: number, status: string, sha = head) => {
    await em.query(
      `insert into proof_bases (repository_id, branch, head_sha)
       select repository_id, base_branch, $2 from pull_proofs where number = $1 on conflict do nothing`,
      [number, firstOfBase],
    );
    await em.query('update pull_proofs set status = $3, at = now(), hold = null where number = $1 and head_sha = $2', [
      number,
      sha,
      status,
    ]);
    await em.query(
      `update runs set status = 'succeeded', finished_at = now(), lease_until = null where status = 'queued'`,
    );
    await em.query(`update tasks set status = 'done' where hidden`);
    await mirror(number);
  };
  const opened = async (pull: Pull, status: string) => {
    await told('opened', pull);
    await judge(pull.number, status, pull.sha);
  };
  return { em, own, projectId, ids, told, judge, opened, mirror, latest };
}

/** Makes pull request 7 that of a task, with this head and base. */
export async function ofTask(
  acme: Acme,
  { em, own, projectId }: Pick<Awaited<ReturnType<typeof proofsOfHead>>, 'em' | 'own' | 'projectId'>,
) {
  await em.query(
    `insert into tasks (id, project_id, title, status, repository_id) values ('task_f', $1, 'f', 'in_review', $2)`,
    [projectId, own.id],
  );
  for (const each of ['comments', 'reviews', 'files', 'commits']) around.pages[`/pulls/7/${each}`] = [];
  const bot = await acme.service.app.github?.bot();
  const user = { ...shown(bot?.id ?? 0, bot?.login ?? ''), type: 'Bot' };
  return {
    user,
    isAt: (sha: string, base = 'main') =>
      em.query(
        `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, base_branch, head_sha)
         values ('task_f', $1, 7, 'https://github.com/acme/app/pull/7', 'open', 'agent/f', $3, $2)
         on conflict (repository_id, number) do update set head_sha = excluded.head_sha, base_branch = excluded.base_branch`,
        [own.id, sha, base],
      ),
    /** Stores that a run of the task made a commit, and what it proved of it for a base. */
    isMade: async (sha: string, status: string, branch: string) => {
      await em.query(
        `insert into runs (id, task_id, project_id, kind, status, finished_at) values ('run_f', 'task_f', $1, 'start', 'succeeded', now())`,
        [projectId],
      );
      await em.query(
        `insert into run_steps (run_id, name, data) values ('run_f', 'pushing ' || $1, jsonb_build_object('commit', $2::text))`,
        [own.id, sha],
      );
      await em.query(
        `insert into proofs (run_id, task_id, status, parts, commits, bases)
         values ('run_f', 'task_f', $2, jsonb_build_object($1::text, jsonb_build_object('status', $2::text, 'reason', null)),
           jsonb_build_object($1::text, $3::text), jsonb_build_object($1::text, jsonb_build_object('branch', $4::text)))`,
        [own.id, status, sha, branch],
      );
    },
  };
}
