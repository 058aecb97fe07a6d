import type { EntityManager } from 'typeorm';
import { z } from 'zod';

const Id = z.object({ id: z.number() });
const Text = z.object({ author_association: z.string(), user: Id });
const Pull = Text.extend({
  number: z.number(),
  head: z.object({ repo: Id.nullish() }),
  base: z.object({ repo: Id }),
});
const Payload = z.object({
  action: z.string().optional(),
  sender: Id,
  repository: Id,
  comment: Text.optional(),
  review: Text.optional(),
  issue: Text.optional(),
  pull_request: Pull.optional(),
});

/** Who may push, or belongs to the owner (docs.github.com, "CommentAuthorAssociation"). Owners are shown as others if they wish. */
const insiders = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);
/** After these, what was proved of a pull request may no longer be right. */
const changing = new Set(['edited', 'reopened']);

/**
 * Returns whether an event is about what somebody wrote or pushed to a fork who has nothing to do with the repository, as far as GitHub
 * and its projects say. It decides only how much of GitHub's hour may be used for it, not what anybody may do.
 */
export async function isOfStranger(em: EntityManager, payload: unknown): Promise<boolean> {
  const read = Payload.safeParse(payload).data;
  if (read === undefined) return false;
  const { action = '', sender, repository, comment, review, issue, pull_request: pull } = read;
  const text = comment ?? review ?? issue ?? pull;
  if (text === undefined || text.user.id !== sender.id || insiders.has(text.author_association)) return false;
  if (text === pull && pull.head.repo?.id === pull.base.repo.id) return false;
  if (await isMember(em, sender.id, repository.id)) return false;
  return text !== pull || !changing.has(action) || !(await isJudged(em, repository.id, pull.number));
}

async function isMember(em: EntityManager, githubId: number, repositoryId: number): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from users u join members m on m.user_id = u.id join repositories r on r.project_id = m.project_id
     where u.github_id = $1 and r.github_id = $2 limit 1`,
    [githubId, repositoryId],
  );
  return rows.length > 0;
}

/** Returns whether something was proved of a pull request. It has to be taken back at once if it is no longer right. */
async function isJudged(em: EntityManager, repositoryId: number, number: number): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from repositories r join pull_proofs p on p.repository_id = r.id
     where r.github_id = $1 and p.number = $2 and p.status is not null limit 1`,
    [repositoryId, number],
  );
  return rows.length > 0;
}
