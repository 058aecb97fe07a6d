import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { holdJudged } from '../../runs/pull-proofs/hold-judged.ts';
import type { PullRef } from '../../runs/reviewing/store.ts';
import { isForStranger } from '../app/pacing.ts';
import { findInstalledRepository } from '../store.ts';

/** What GitHub sends with an event about a pull request. */
interface PullEvent {
  installation?: { id: number } | undefined;
  repository: { id: number };
  pull_request: {
    number: number;
    state: string;
    html_url: string;
    user: { id: number | bigint; login: string } | null;
    head: { sha: string; repo: { id: number | bigint } | null };
    base: { ref: string };
    updated_at: string;
  };
}

/** Does what must not wait for GitHub's next hour when an open pull request gets a head or another base; see `holdJudged`. */
export async function holdHead(app: App, { installation, repository, pull_request: pull }: PullEvent): Promise<void> {
  const row = installation && (await findInstalledRepository(app.db.manager, installation.id, repository.id));
  if (row === undefined || pull.state !== 'open') return;
  const { number, html_url: url, user, head, base } = pull;
  if (await hadLater(app.db.manager, { repositoryId: row.id, number }, head.sha, new Date(pull.updated_at))) return;
  const seen = {
    number,
    headSha: head.sha,
    base: base.ref,
    author: user?.login ?? null,
    authorId: Number(user?.id),
    url,
  };
  await holdJudged(app, row, { ...seen, isForeign: isForStranger() || head.repo?.id !== repository.id });
}

/** Returns whether a pull request is known to have had another head later than an event says. Events may come late, and again. */
async function hadLater(em: EntityManager, at: PullRef, headSha: string, when: Date): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select from pull_heads where repository_id = $1 and number = $2 and head_sha <> $3 and since > $4',
    [at.repositoryId, at.number, headSha, when],
  );
  return rows.length > 0;
}
