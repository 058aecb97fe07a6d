import type { EntityManager } from 'typeorm';
import type { Answered } from '../app.ts';
import { newId } from '../db/ids.ts';
import { Installations } from '../db/tables/github.ts';
import {
  type AgentRow,
  Agents,
  type ApiTokenRow,
  type ProjectRow,
  Projects,
  type SecretKind,
  type UserRow,
  Users,
} from '../db/tables/project.ts';
import { liveRun } from '../db/tables/run.ts';
import type { Role, Scope } from '../domain/agent.ts';
import type { ProjectBudgets } from '../domain/budget.ts';
import { notFound } from '../errors.ts';

/** A project as one of its members sees it. */
export interface ProjectView extends Omit<ProjectRow, 'budgets'> {
  budgets: ProjectBudgets;
  role: Role;
  /** The person who added the member; null for the project's creator and for roles that GitHub grants. */
  addedBy: { id: string; login: string } | null;
  /** Whether GitHub lets the service work for the project's account; null without an installation. */
  github: GitHubState | null;
}

interface GitHubState {
  state: 'ok' | 'suspended' | 'refused' | 'missing_permissions';
  reason: string | null;
  /** Text from the database, which builds this object as JSON. */
  since: Date | string | null;
}

const noBudgets: ProjectBudgets = {
  runMinutes: null,
  runSteps: null,
  runTokens: null,
  runCostUsd: null,
  dayCostUsd: null,
};

export function viewProject(
  project: ProjectRow,
  { role, addedBy, github }: Pick<ProjectView, 'role' | 'addedBy' | 'github'>,
): ProjectView {
  const since = github === null || github.since === null ? null : new Date(github.since);
  return { ...project, budgets: ownBudgets(project), role, addedBy, github: github && { ...github, since } };
}

/** Returns the budgets that a project sets; null where the limit of the service applies. */
export function ownBudgets({ budgets }: ProjectRow): ProjectBudgets {
  return { ...noBudgets, ...budgets };
}

const asMember = `select p.id, p.name, p.slug, p.description, p.budgets, p.share_private_context as "sharePrivateContext", p.push, p.default_agent_id as "defaultAgentId",
    p.created_by as "createdBy", p.created_at as "createdAt", p.updated_at as "updatedAt", m.role,
    case when a.id is not null then json_build_object('id', a.id, 'login', a.login) end as "addedBy",
    case i.status
      when 'active' then json_build_object('state', coalesce(i.problem, 'ok'), 'reason', i.problem_reason,
        'since', i.problem_since)
      when 'suspended' then json_build_object('state', 'suspended', 'reason',
        'The App is suspended for ' || i.account_login || '. An owner of the account can unsuspend it on GitHub.',
        'since', i.updated_at)
    end as github
  from members m join projects p on p.id = m.project_id left join users a on a.id = m.added_by
    left join installations i on i.project_id = p.id`;
interface AsMember extends ProjectRow, Pick<ProjectView, 'role' | 'addedBy'> {
  /** JSON, in which a time is text. */
  github: (Omit<GitHubState, 'since'> & { since: string | null }) | null;
}

/**
 * Finds a project and what one of its members may see of it.
 * @throws AppError 404
 */
export async function getProject(em: EntityManager, id: string, userId: string): Promise<ProjectView> {
  const [row]: AsMember[] = await em.query(`${asMember} where p.id = $1 and m.user_id = $2`, [id, userId]);
  if (row === undefined) throw notFound('Project', id);
  return viewProject(row, row);
}

export async function listProjects(em: EntityManager, userId: string, page: { limit: number; offset: number }) {
  const rows: AsMember[] = await em.query(
    `${asMember}
     where m.user_id = $1
     order by p.created_at desc, p.id desc
     limit $2 offset $3`,
    [userId, page.limit + 1, page.offset],
  );
  return rows.map((row) => viewProject(row, row));
}

export async function findProject(em: EntityManager, id: string): Promise<ProjectRow> {
  return em.findOneByOrFail(Projects, { id });
}

/** Finds GitHub's number of the active installation that a project belongs to. */
export async function findActiveInstallationOf(em: EntityManager, projectId: string): Promise<number | undefined> {
  const rows: { id: number }[] = await em.query(
    `select installation_id::float8 as id from installations where project_id = $1 and status = 'active'`,
    [projectId],
  );
  return rows[0]?.id;
}

export async function getUser(em: EntityManager, id: string): Promise<UserRow> {
  return em.findOneByOrFail(Users, { id });
}

export async function insertProjectRow(
  em: EntityManager,
  project: Pick<ProjectRow, 'id' | 'slug' | 'name' | 'description' | 'createdBy'>,
): Promise<void> {
  await em.insert(Projects, project);
}

export async function insertAgents(
  em: EntityManager,
  agents: Pick<AgentRow, 'id' | 'projectId' | 'builtIn' | 'name' | 'team' | 'description' | 'systemPrompt'>[],
): Promise<void> {
  await em.insert(Agents, agents);
}

/** Locks a project until the end of the transaction, and returns it. */
export async function lockProject(em: EntityManager, id: string): Promise<ProjectRow> {
  return em.findOneOrFail(Projects, { where: { id }, lock: { mode: 'pessimistic_write' } });
}

/** Changes the fields that are given. */
export async function updateProjectRow(
  em: EntityManager,
  id: string,
  change: Partial<
    Pick<ProjectRow, 'name' | 'description' | 'budgets' | 'sharePrivateContext' | 'push' | 'defaultAgentId'>
  >,
): Promise<void> {
  await em.update(Projects, { id }, { ...change, updatedAt: new Date() } as never);
}

/** Whether an agent belongs to a project, and not to a person. */
export async function isAgentOf(em: EntityManager, agentId: string, projectId: string): Promise<boolean> {
  return em.existsBy(Agents, { id: agentId, projectId });
}

/** Deletes a project. Its installation is ignored until the App is installed again. */
export async function deleteProjectRow(em: EntityManager, id: string): Promise<void> {
  await em.update(Installations, { projectId: id }, { status: 'ignored', projectId: null });
  await em.delete(Projects, { id });
}

type AnsweredUser = NonNullable<Answered<'GET /repos/{owner}/{repo}/issues/{issue_number}'>['user']>;

/** An account as GitHub shows it. Events may leave out all but its id and login. */
export type GitHubUser = Pick<AnsweredUser, 'id' | 'login'> & {
  [Field in 'name' | 'avatar_url' | 'type']?: AnsweredUser[Field] | undefined;
};

/** The account that GitHub shows in place of one that was deleted. It stands for writers of whom nothing is known. */
export const ghost: GitHubUser = { id: 10_137, login: 'ghost' };

/**
 * Finds the user of a GitHub account, or creates one. A user who was known only by this login is bound to the account.
 * If another account had the login before and was renamed since, its user loses the login.
 */
export async function upsertUser(em: EntityManager, from: GitHubUser): Promise<UserRow> {
  await em.query(
    `update users set login = login || '~' || id where lower(login) = lower($1) and github_id is not null and github_id <> $2`,
    [from.login, from.id],
  );
  await em.query(
    `update users set github_id = $2 where lower(login) = lower($1) and github_id is null
       and not exists (select 1 from users where github_id = $2)`,
    [from.login, from.id],
  );
  // Two simultaneous requests can conflict on the account number or on the login, whichever index is checked first. Any
  // conflict means that the other request inserted the row.
  await em.query(
    `insert into users (id, github_id, login, name, avatar_url) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [newId('user'), from.id, from.login, from.name ?? '', from.avatar_url ?? ''],
  );
  const [[row]]: [{ id: string }[], number] = await em.query(
    `update users set login = $2, updated_at = now(), name = case when $3 = '' then name else $3 end,
       avatar_url = case when $4 = '' then avatar_url else $4 end
     where github_id = $1 returning id`,
    [from.id, from.login, from.name ?? '', from.avatar_url ?? ''],
  );
  return em.findOneByOrFail(Users, { id: row?.id ?? '' });
}

export async function findUser(em: EntityManager, id: string): Promise<UserRow | null> {
  return em.findOneBy(Users, { id });
}

export async function findUserByLogin(em: EntityManager, login: string): Promise<UserRow | undefined> {
  const [row]: { id: string }[] = await em.query('select id from users where lower(login) = lower($1)', [login]);
  return row === undefined ? undefined : em.findOneByOrFail(Users, { id: row.id });
}

/** Creates a user known only by a login, for services without GitHub. */
export async function insertUser(em: EntityManager, login: string): Promise<UserRow> {
  const id = newId('user');
  await em.query('insert into users (id, login) values ($1, $2) on conflict ((lower(login))) do nothing', [id, login]);
  return (await findUserByLogin(em, login)) as UserRow;
}

export async function insertToken(
  em: EntityManager,
  token: Pick<ApiTokenRow, 'id' | 'userId' | 'name' | 'prefix' | 'expiresAt' | 'isSession' | 'scopes'>,
): Promise<void> {
  await em.query(
    `insert into api_tokens (id, user_id, name, prefix, expires_at, is_session, scopes)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [token.id, token.userId, token.name, token.prefix, token.expiresAt, token.isSession, token.scopes],
  );
}

/** Deletes up to `limit` browser sessions that ended days ago. Returns the number deleted. */
export async function deleteOldSessions(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from api_tokens where id in (
       select id from api_tokens where is_session and expires_at < now() - make_interval(days => $1)
       order by expires_at limit $2)`,
    [days, limit],
  );
  return count;
}

/** Returns the tokens of a user that are not revoked, newest first. */
export async function listTokens(em: EntityManager, userId: string, page: { limit: number; offset: number }) {
  const rows: Omit<ApiTokenRow, 'userId' | 'isSession' | 'revokedAt'>[] = await em.query(
    `select id, name, prefix, scopes, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt"
     from api_tokens where user_id = $1 and revoked_at is null and not is_session
     order by created_at desc, id desc limit $2 offset $3`,
    [userId, page.limit + 1, page.offset],
  );
  return rows;
}

/** Finds a token that the user has not revoked. */
export async function findToken(
  em: EntityManager,
  userId: string,
  id: string,
): Promise<Pick<ApiTokenRow, 'scopes'> | undefined> {
  const rows: { scopes: Scope }[] = await em.query(
    'select scopes from api_tokens where id = $1 and user_id = $2 and revoked_at is null',
    [id, userId],
  );
  return rows[0];
}

/** Revokes a token. Returns false when the user has no such token. */
export async function revokeToken(em: EntityManager, userId: string, id: string): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    'update api_tokens set revoked_at = now() where id = $1 and user_id = $2 and revoked_at is null',
    [id, userId],
  );
  return count === 1;
}

/** Revokes the tokens and ends the sessions of everybody. Returns how many there were. */
export async function revokeAllTokens(em: EntityManager): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    'update api_tokens set revoked_at = now() where revoked_at is null and expires_at > now()',
  );
  return count;
}

export async function hasLiveRuns(em: EntityManager, projectId: string): Promise<boolean> {
  const [row]: [{ live: boolean }] = await em.query(
    `select exists (select 1 from runs where project_id = $1 and status in ${liveRun}) as live`,
    [projectId],
  );
  return row.live;
}

export async function upsertSecret(
  em: EntityManager,
  secret: { projectId: string; kind: SecretKind; keyId: string; ciphertext: Buffer },
): Promise<void> {
  await em.query(
    `insert into project_secrets (project_id, kind, key_id, ciphertext) values ($1, $2, $3, $4)
     on conflict (project_id, kind)
     do update set key_id = excluded.key_id, ciphertext = excluded.ciphertext, updated_at = now()`,
    [secret.projectId, secret.kind, secret.keyId, secret.ciphertext],
  );
}
