import type { EntityManager } from 'typeorm';
import type { Trees } from '../../conversation/ending.ts';
import { liveRun } from '../../db/tables/run.ts';
import { type Judged, notRun, type Proof, type ProofBase, worstOf } from '../../domain/proof/proof.ts';
import { storableJson } from '../../domain/text/sanitize.ts';

/** What a run knows about its change, by the ids of its repositories. */
export interface RunProof {
  /** The trees that it judged. */
  trees: Trees;
  /** What the tests prove about them. */
  parts: Record<string, Proof>;
  /** The commits of the trees that were there already. */
  commits: Record<string, string>;
  /** The bases with which the trees were compared. */
  bases: Record<string, ProofBase>;
}

/** Stores what a run proved. A commit that was stored for another tree is forgotten. */
export async function upsertProof(
  em: EntityManager,
  run: { id: string; taskId: string },
  { trees, parts, commits, bases }: RunProof,
): Promise<void> {
  const worst = worstOf(Object.values(parts)) ?? notRun('the change was not checked');
  await em.query(
    `insert into proofs (run_id, task_id, status, new_tests_fail_on_base, old_tests_pass, tests_changed, tests_removed,
       reason, trees, parts, commits, bases) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (run_id) do update set status = excluded.status,
       new_tests_fail_on_base = excluded.new_tests_fail_on_base, old_tests_pass = excluded.old_tests_pass,
       tests_changed = excluded.tests_changed, tests_removed = excluded.tests_removed, reason = excluded.reason,
       trees = excluded.trees, parts = excluded.parts, bases = excluded.bases, commits = excluded.commits || (
         select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(proofs.commits)
         where proofs.trees -> key = excluded.trees -> key),
       at = now()`,
    [
      run.id,
      run.taskId,
      worst.status,
      worst.newTestsFailOnBase,
      worst.oldTestsPass,
      storableJson(worst.testsChanged),
      storableJson(worst.testsRemoved),
      worst.reason,
      trees,
      storableJson(parts),
      commits,
      storableJson(bases),
    ],
  );
}

/** Stores the commit as which a run pushes the tree that its proof is about. */
export async function setProvenCommit(
  em: EntityManager,
  runId: string,
  repositoryId: string,
  commit: string,
): Promise<void> {
  await em.query('update proofs set commits = commits || jsonb_build_object($2::text, $3::text) where run_id = $1', [
    runId,
    repositoryId,
    commit,
  ]);
}

/** The condition under which a row `p` of `proofs` is about the base branch of the pull request `pr` in the repository `o`. */
const isOfBase = `p.bases -> pr.repository_id ->> 'branch' = coalesce(pr.base_branch, o.default_branch)`;

/** What the latest run that tested the head of the pull request `pr` in the repository `o` for its base has proved. */
const provedForBase = (
  condition = 'true',
) => `(select p.parts -> pr.repository_id from proofs p join runs r on r.id = p.run_id
  where p.task_id = pr.task_id and p.commits ->> pr.repository_id = pr.head_sha and p.parts ? pr.repository_id and ${isOfBase}
    and ${condition} order by r.created_at desc, r.id desc limit 1)`;

/** SQL: whether such a row was proved with the settings of now, as far as is known. An earlier release did not store them. */
const isOfRules = `coalesce(p.bases -> pr.repository_id ->> 'rules' = o.proof_rules, true)`;

/**
 * The condition under which the evidence of a run, with its row `p` of `proofs`, is void: an open pull request goes into
 * another branch than the one with which the run compared it, or it has another head than the commit that the run pushed,
 * or the run, a row `r` of `runs`, ended without a push.
 */
export const isVoid = `exists (select from pull_requests pr join repositories o on o.id = pr.repository_id
  where pr.task_id = p.task_id and pr.status in ('open', 'draft') and (p.parts || p.commits) ? pr.repository_id
  and ((${isOfBase}) is not true or pr.head_sha is distinct from p.commits ->> pr.repository_id
    and (p.commits ? pr.repository_id or r.status not in ${liveRun})))`;

interface LatestProof extends Proof {
  runId: string;
  /** Whether the run may still push. */
  isLive: boolean;
  parts: Record<string, Proof>;
  commits: Record<string, string>;
  bases: Record<string, ProofBase>;
  /** The names of the repositories of the parts, without the task's own. */
  names: Record<string, string>;
}

async function findLatestProof(em: EntityManager, taskId: string): Promise<LatestProof | undefined> {
  const rows: LatestProof[] = await em.query(
    `select p.run_id as "runId", p.status, p.new_tests_fail_on_base as "newTestsFailOnBase",
       p.old_tests_pass as "oldTestsPass", p.tests_changed as "testsChanged", p.tests_removed as "testsRemoved", p.reason,
       p.parts, p.commits, p.bases, r.status in ${liveRun} as "isLive", (
         select coalesce(jsonb_object_agg(o.id, o.name), '{}') from repositories o
         where o.id in (select jsonb_object_keys(p.parts)) and o.id is distinct from t.repository_id) as names
     from proofs p join runs r on r.id = p.run_id join tasks t on t.id = p.task_id
     where p.task_id = $1 order by r.created_at desc, r.id desc limit 1`,
    [taskId],
  );
  return rows[0];
}

interface TestedPull {
  repositoryId: string;
  /** The name of the repository; null for the task's own. */
  name: string | null;
  /** The branch into which it goes. */
  base: string;
  /** Whether a run tested the head, for whatever base. */
  isTested: boolean;
  /** What the latest run that tested the head for this base has proved; null if none did. */
  proof: Proof | null;
}

/** What the latest run that pushed a head proved of it, for the base of the pull request; null if none did. */
export interface ProvedHead {
  number: number;
  taskId: string;
  /** The branch into which the pull request goes. */
  base: string;
  proof: Judged | null;
}

/**
 * Stores what the settings of a repository say about proofs. Returns whether they said something else before; then what counted for the
 * check runs of its heads may count no longer. With `isFirst`, it is stored only where nothing is known.
 */
export async function storeRulesOfProofs(
  em: EntityManager,
  repositoryId: string,
  rules: string,
  isFirst = false,
): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update repositories set proof_rules = $2 where id = $1 and proof_rules is distinct from $2 and (proof_rules is null or not $3)`,
    [repositoryId, rules, isFirst],
  );
  return count > 0;
}

/** Returns the open pull requests of tasks that have a head. What was proved with other settings than those of now does not count. */
export async function listTaskPullsOfHead(
  em: EntityManager,
  { repositoryId, headSha }: { repositoryId: string; headSha: string },
): Promise<ProvedHead[]> {
  return em.query(
    `select pr.number, pr.task_id as "taskId", coalesce(pr.base_branch, o.default_branch) as base, ${provedForBase(isOfRules)} as proof
     from pull_requests pr join repositories o on o.id = pr.repository_id
     where pr.repository_id = $1 and pr.head_sha = $2 and pr.status in ('open', 'draft') order by pr.number`,
    [repositoryId, headSha],
  );
}

/** Returns what is known about the head of each open pull request of a task. */
async function listTestedPulls(em: EntityManager, taskId: string): Promise<TestedPull[]> {
  return em.query(
    `select pr.repository_id as "repositoryId", case when o.id is distinct from t.repository_id then o.name end as name,
       coalesce(pr.base_branch, o.default_branch) as base, exists (
         select from proofs p where p.task_id = pr.task_id and p.commits ->> pr.repository_id = pr.head_sha
           and p.parts ? pr.repository_id) as "isTested", ${provedForBase()} as proof
     from pull_requests pr join repositories o on o.id = pr.repository_id join tasks t on t.id = pr.task_id
     where pr.task_id = $1 and pr.status in ('open', 'draft') order by pr.created_at, pr.number`,
    [taskId],
  );
}

/**
 * Returns the worst of what is proved about a task, with its latest run that has a proof. Each open pull request counts
 * with what was proved about its head for its base branch. Instead, a change that a live run is about to push counts, and
 * so does what the latest run proved where no pull request is open. `repositoryId` is the repository that the result is
 * about; null if the run had none open.
 */
export async function findProof(
  em: EntityManager,
  taskId: string,
): Promise<(Proof & { runId: string; repositoryId: string | null }) | undefined> {
  const latest = await findLatestProof(em, taskId);
  if (latest === undefined) return undefined;
  const { runId, isLive, parts, commits, bases, names, ...whole } = latest;
  const isPending = ({ repositoryId: id, base }: TestedPull) =>
    isLive && id in parts && !(id in commits) && bases[id]?.branch === base;
  const pulls = (await listTestedPulls(em, taskId)).filter((pull) => !isPending(pull));
  const own = Object.entries(parts).filter(([id]) => !pulls.some(({ repositoryId }) => repositoryId === id));
  const untested = notRun('the branch has commits that no run of this task has tested');
  const moved = notRun('no run of this task has tested it for the branch into which it goes now');
  const unparted = { ...whole, repositoryId: null };
  const all = [
    ...own.map(([id, proof]) => within(id, names[id], proof)),
    ...pulls.map(({ repositoryId, name, proof, isTested }) =>
      within(repositoryId, name, proof ?? (isTested ? moved : untested)),
    ),
    ...(Object.keys(parts).length === 0 ? [unparted] : []),
  ];
  return { ...(worstOf<Proof & { repositoryId: string | null }>(all) ?? unparted), runId };
}

/** Says which repository a proof is about, in its reason too, unless it is that of the task. */
function within(repositoryId: string, name: string | null | undefined, proof: Proof) {
  const isNamed = name !== null && name !== undefined && proof.reason !== null;
  return { ...proof, repositoryId, reason: isNamed ? `in the repository ${name}, ${proof.reason}` : proof.reason };
}
