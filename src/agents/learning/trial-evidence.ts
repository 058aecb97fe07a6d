import type { EntityManager } from 'typeorm';
import type { AgentRow } from '../../db/tables/project.ts';
import { comparePairs, type Pair, type PairedComparison } from '../../domain/lab/paired.ts';
import { isWorse } from '../../domain/lab/portfolio.ts';
import { promptHash } from '../../domain/lab/prompt-hash.ts';
import { Refused } from '../../domain/machine.ts';
import { storableText } from '../../domain/text/sanitize.ts';
import { notFound } from '../../errors.ts';

/**
 * Checks that a trial speaks for a new system prompt of an agent: it was of exactly this prompt, and it was not worse than the
 * version that the agent has now. If the trial did not compare the two, the last results of the old prompt on the same
 * repository count.
 * @throws AppError 404 for a trial that the user may not see; Refused when it does not speak for the prompt
 */
export async function assertSpeaksFor(
  em: EntityManager,
  userId: string,
  trialId: string,
  { agent, systemPrompt }: { agent: AgentRow; systemPrompt: string },
): Promise<void> {
  const trial = await findTrialOf(em, userId, trialId);
  if (trial === undefined) throw notFound('Trial', trialId);
  if (trial.promptHash !== promptHash(systemPrompt))
    throw new Refused(
      'The trial was of another system prompt. Try exactly the prompt that the new version gets, with systemPrompt of POST /agents/:id/trials.',
    );
  if (trial.status === 'running') throw new Refused('The trial has not ended yet. Wait for its result.');
  if (trial.status !== 'done')
    throw new Refused(`The trial says nothing, because it was ${trial.status}. Start another one.`);
  const old = promptHash(agent.systemPrompt);
  const results = await listResults(em, trial.id);
  const isComparison = trial.otherHash === old;
  const worse = isComparison
    ? comparePairs(pairsOf(results), { planned: trial.planned, isOver: true }).verdict === 'worse'
    : await isWorseThanOld(em, trial, { results, lineId: agent.lineId, old });
  if (worse)
    throw new Refused(
      `In the trial, the new system prompt solved significantly less than version ${agent.version} of ${agent.name}. Change the prompt and try it again, or create the version without the trial.`,
    );
}

interface TrialOf {
  id: string;
  repositoryId: string;
  status: 'running' | 'done' | 'cancelled' | 'failed';
  promptHash: string;
  /** The prompt with which it was compared; null for a trial without a comparison. */
  otherHash: string | null;
  planned: number;
}

async function findTrialOf(em: EntityManager, userId: string, id: string): Promise<TrialOf | undefined> {
  const rows: TrialOf[] = await em.query(
    `select t.id, t.repository_id as "repositoryId", t.status, m.prompt_hash as "promptHash", o.prompt_hash as "otherHash",
       (select count(*)::int from agent_trial_items i where i.trial_id = t.id) as planned /* not null */
     from agent_trials t join members u on u.project_id = t.project_id and u.user_id = $1
     join agent_trial_arms m on m.trial_id = t.id and m.arm = 0
     left join agent_trial_arms o on o.trial_id = t.id and o.arm = 1
     where t.id = $2`,
    [userId, storableText(id)],
  );
  return rows[0];
}

interface Result {
  itemId: string;
  arm: number;
  isSolved: boolean;
}

/** Returns the results of a trial that count, in the order of its items. */
async function listResults(em: EntityManager, trialId: string): Promise<Result[]> {
  return em.query(
    `select i.item_id as "itemId", x.arm, x.result = 'solved' as "isSolved" /* not null */
     from agent_trial_runs x join agent_trial_items i on i.trial_id = x.trial_id and i.place = x.place
     where x.trial_id = $1 and x.result in ('solved', 'unsolved') order by x.place, x.arm`,
    [trialId],
  );
}

/** What a trial says about two versions of an agent: how the later one did against the earlier one, on the same items. */
export interface VersionsTrial extends Pick<PairedComparison, 'of' | 'difference' | 'pValue' | 'verdict'> {
  id: string;
  repositoryId: string;
  endedAt: Date;
  earlier: { solved: number };
  later: { solved: number };
}

/** Returns the latest trial that has compared the prompts of two versions of an agent with one model, and that a user may see. */
export async function readTrialOfVersions(
  em: EntityManager,
  userId: string,
  { earlier, later }: { earlier: AgentRow; later: AgentRow },
): Promise<VersionsTrial | undefined> {
  const [before, after] = [promptHash(earlier.systemPrompt), promptHash(later.systemPrompt)];
  const trial = await findTrialOfPrompts(em, userId, { lineId: later.lineId, before, after });
  if (trial === undefined) return undefined;
  const { planned, laterArm, ...about } = trial;
  const pairs = pairsOf(await listResults(em, trial.id));
  const inOrder = laterArm === 0 ? pairs : pairs.map(({ ours, theirs }) => ({ ours: theirs, theirs: ours }));
  const { of, difference, pValue, verdict } = comparePairs(inOrder, { planned, isOver: true });
  return {
    ...about,
    ...{ of, difference, pValue, verdict },
    earlier: { solved: inOrder.filter(({ theirs }) => theirs).length },
    later: { solved: inOrder.filter(({ ours }) => ours).length },
  };
}

interface TrialOfPrompts {
  id: string;
  repositoryId: string;
  endedAt: Date;
  planned: number;
  /** The arm of the later prompt: 0 if it was tried, 1 if the other one was tried against it. */
  laterArm: number;
}

async function findTrialOfPrompts(
  em: EntityManager,
  userId: string,
  { lineId, before, after }: { lineId: string; before: string; after: string },
): Promise<TrialOfPrompts | undefined> {
  const rows: TrialOfPrompts[] = await em.query(
    `select t.id, t.repository_id as "repositoryId", t.finished_at as "endedAt" /* not null */, l.arm as "laterArm",
       (select count(*)::int from agent_trial_items i where i.trial_id = t.id) as planned /* not null */
     from agent_trials t join members u on u.project_id = t.project_id and u.user_id = $1
     join agent_trial_arms l on l.trial_id = t.id and l.prompt_hash = $4
     join agent_trial_arms e on e.trial_id = t.id and e.prompt_hash = $3 and e.arm <> l.arm and e.model = l.model
     join agents a on a.id = l.agent_id join agents b on b.id = e.agent_id
     where t.status = 'done' and a.line_id = $2 and b.line_id = $2
     order by t.created_at desc limit 1`,
    [userId, lineId, before, after],
  );
  return rows[0];
}

function pairsOf(results: Result[]): Pair[] {
  const items = [...Map.groupBy(results, ({ itemId }) => itemId).values()];
  return items.flatMap((both) => {
    const [ours, theirs] = [0, 1].map((arm) => both.find((each) => each.arm === arm));
    return ours === undefined || theirs === undefined ? [] : [{ ours: ours.isSolved, theirs: theirs.isSolved }];
  });
}

/** Compares with the last result of each item that the old prompt has had in any trial. */
async function isWorseThanOld(
  em: EntityManager,
  { repositoryId }: TrialOf,
  { results, lineId, old }: { results: Result[]; lineId: string; old: string },
): Promise<boolean> {
  const rows: { itemId: string; isSolved: boolean }[] = await em.query(
    `select distinct on (i.item_id) i.item_id as "itemId", x.result = 'solved' as "isSolved" /* not null */
     from agent_trials t join agent_trial_arms m on m.trial_id = t.id and m.prompt_hash = $3
     join agents a on a.id = m.agent_id and a.line_id = $2
     join agent_trial_runs x on x.trial_id = m.trial_id and x.arm = m.arm
     join agent_trial_items i on i.trial_id = x.trial_id and i.place = x.place
     where t.repository_id = $1 and x.result in ('solved', 'unsolved')
     order by i.item_id, t.created_at desc limit 1000`,
    [repositoryId, lineId, old],
  );
  const ours = results.filter(({ arm }) => arm === 0);
  if (rows.length === 0 || ours.length === 0) return false;
  const solved = (all: Pick<Result, 'itemId' | 'isSolved'>[]) =>
    new Map(all.map((each) => [each.itemId, each.isSolved]));
  return isWorse(solved(ours), solved(rows));
}
