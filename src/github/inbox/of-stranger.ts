import type { EntityManager } from 'typeorm';
import { z } from 'zod';

const Id = z.object({ id: z.number() });
const Payload = z.object({
  action: z.string(),
  sender: Id,
  repository: Id,
  pull_request: z.object({
    number: z.number(),
    author_association: z.string(),
    user: Id,
    head: z.object({ repo: Id.nullish() }),
    base: z.object({ repo: Id }),
  }),
});

/**
 * Who may push, or belongs to the owner (docs.github.com, "CommentAuthorAssociation"). Members who hide that are shown as others, so
 * this counts only for pull requests from forks, which cost the most and are the easiest to repeat.
 */
const insiders = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/**
 * Returns whether an event is about what somebody did to their pull request from a fork who has nothing to do with the repository, as
 * far as GitHub and its projects say. It decides only how much of GitHub's hour may be used for it, not what anybody may do.
 */
export async function isOfStranger(em: EntityManager, payload: unknown): Promise<boolean> {
  const read = Payload.safeParse(payload).data;
  if (read === undefined) return false;
  const { action, sender, repository, pull_request: pull } = read;
  // A push may come from another account than the author's. Everything else that others do to a pull request needs write permission.
  const isTheirs = pull.user.id === sender.id || action === 'synchronize';
  if (!isTheirs || insiders.has(pull.author_association)) return false;
  return pull.head.repo?.id !== pull.base.repo.id && !(await isMember(em, sender.id, repository.id));
}

async function isMember(em: EntityManager, githubId: number, repositoryId: number): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from users u join members m on m.user_id = u.id join repositories r on r.project_id = m.project_id
     where u.github_id = $1 and r.github_id = $2 and r.is_installed limit 1`,
    [githubId, repositoryId],
  );
  return rows.length > 0;
}
