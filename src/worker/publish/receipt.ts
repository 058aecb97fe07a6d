import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import { isDatabaseAway } from '../../db/database.ts';
import { signStatement } from '../../domain/receipt/envelope.ts';
import { type Receipt, statementOf } from '../../domain/receipt/statement.ts';
import { LeaseLost } from '../../domain/run.ts';
import { withoutSecrets } from '../../domain/secrets.ts';
import type { OpenedPull } from '../../repositories/pulls.ts';
import { stepOf } from '../../runs/journal.ts';
import { signingKey } from '../../runs/receipts/keys.ts';
import { insertReceipt, listApprovals, listHostsOfRun } from '../../runs/receipts/store.ts';
import { findApprovedPlan } from '../../runs/waiting/store.ts';
import type { Work } from '../work.ts';

/** What is pushed for a pull request. */
interface Published {
  commit: string;
  tree: string;
}

/**
 * Signs what is known about a commit that a run has pushed for a pull request, and stores it, once in a run for each
 * repository. If that fails, the pull request has no receipt; it is open already, so the run goes on.
 */
export async function giveReceipt(app: App, work: Work, pull: OpenedPull, published: Published): Promise<void> {
  const { journal, run, repository, task } = work;
  await journal.once(stepOf('receipt', task, repository), async () => {
    try {
      const receipt = withoutSecrets(await receiptOf(app, work, pull, published), work.secrets);
      const envelope = signStatement(
        statementOf({ ...published, repository: repository.url }, receipt),
        await signingKey(app),
      );
      const stored = { runId: run.id, repositoryId: repository.id, prUrl: pull.url, envelope };
      await journal.write((em) => insertReceipt(em, { ...stored, number: pull.number, commit: published.commit }));
      return { isSigned: true };
    } catch (error) {
      if (error instanceof LeaseLost || work.signal.aborted || isDatabaseAway(error)) throw error;
      app.log.error({ err: error, runId: run.id }, 'a receipt could not be signed');
      await journal.note('pull', 'the pull request goes without a signed receipt, because it could not be signed');
      return { isSigned: false };
    }
  });
}

async function receiptOf(app: App, work: Work, { url }: OpenedPull, { tree }: Published): Promise<Receipt> {
  const { run, task, agent, repository, environment, evidence, branch, baseBranch } = work;
  const em = app.db.manager;
  const isOf = evidence?.tree === tree;
  const { proof, base } = isOf ? evidence : {};
  const plan = await findApprovedPlan(em, task.id, { runId: run.id, until: run.startedAt });
  const about = { taskId: task.id, planOf: plan?.runId ?? null, repositoryId: repository.id, tree };
  const approvals = await listApprovals(em, about);
  return {
    pullRequest: url,
    branch: branch.name,
    baseBranch,
    service: { version: app.version, address: app.config.BASE_URL },
    task: task.id,
    run: {
      id: run.id,
      kind: run.kind,
      startedAt: run.startedAt?.toISOString() ?? null,
      signedAt: new Date().toISOString(),
    },
    agent: { name: agent.name, version: agent.version, promptSha256: sha256(agent.systemPrompt) },
    model: agent.model || app.config.OPENAI_MODEL,
    environment: { key: environment.plan.key, how: environment.how },
    hosts: await listHostsOfRun(em, run.id, repository.id),
    checks: (isOf ? evidence.checks : []).map(({ command, passed, seconds }) => ({ command, passed, seconds })),
    proof:
      proof === undefined
        ? null
        : {
            status: proof.status,
            newTestsFailOnBase: proof.newTestsFailOnBase,
            oldTestsPass: proof.oldTestsPass,
            reason: proof.reason,
            baseCommit: base?.commit ?? null,
          },
    approvals: approvals.map(({ what, by, at }) => ({ what, by, at: at.toISOString() })),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
