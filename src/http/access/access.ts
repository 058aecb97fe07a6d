import type { App } from '../../app.ts';
import type { Database } from '../../db/database.ts';
import { hasRole, type Role, type Scope } from '../../domain/agent.ts';
import { notAdmitted, notAMember, notFound, requiresRole, unauthorized } from '../../errors.ts';

/** The user who sent a request, identified by a token that was live when the request arrived. */
export interface Caller {
  id: string;
  login: string;
  tokenId: string;
  /** How the request came. A session is the token of a browser that signed in; `mcp` is a call of a tool. */
  via: 'token' | 'session' | 'mcp';
  /** What the token allows. `enter` checks it for each request. */
  scope: Scope;
}

/** The parts of a request that an access rule reads. They have not been validated yet. */
export interface Asked {
  tokenId: string;
  params: Record<string, string>;
  body: unknown;
  query: Record<string, unknown>;
}

/**
 * Decides who may call a route. `load` finds the object that the path names, checks the caller, and returns both; `enter` in
 * scope.ts calls it and checks the token's scope. It is a property instead of a method so that the compiler compares its parameters strictly.
 */
export interface Access<C> {
  /** For documentation and generated tests. `public` routes need no token. */
  kind: 'public' | 'user' | 'project' | 'projectInBody' | 'projectInQuery' | 'object';
  /**
   * The least role of the project that a caller needs. Undefined where the objects of a person are concerned instead of those
   * of a project.
   */
  role?: Role;
  /** The path parameter or body key that names the object. */
  names?: string;
  load: (app: App, asked: Asked) => Promise<C>;
}

const liveToken = 'tok.id = $1 and tok.revoked_at is null and tok.expires_at > now()';
const caller =
  'u.id as "callerId", u.login as "callerLogin", tok.is_session as "callerIsSession", tok.scopes as "callerScope"';
interface CallerColumns {
  callerId: string;
  callerLogin: string;
  callerIsSession: boolean;
  callerScope: Scope;
}
interface MemberColumns extends CallerColumns {
  callerRole: Role | null;
}

function callerOf(row: CallerColumns, tokenId: string): Caller {
  const via = row.callerIsSession ? 'session' : 'token';
  return { id: row.callerId, login: row.callerLogin, tokenId, via, scope: row.callerScope };
}

/** Finds the caller that a live token belongs to. @throws AppError 401 */
export async function findCaller(db: Database, tokenId: string): Promise<Caller> {
  return callerOf(await readCaller(db, tokenId), tokenId);
}

async function readCaller(db: Database, tokenId: string): Promise<CallerColumns & { isAdmitted: boolean }> {
  const [row] = await db.prepared<CallerColumns & { isAdmitted: boolean }>(
    'caller',
    `select ${caller}, (coalesce(u.admitted_until > now(), false)
       or exists (select 1 from members m where m.user_id = u.id)) as "isAdmitted"
     from api_tokens tok join users u on u.id = tok.user_id where ${liveToken}`,
    [tokenId],
  );
  if (row === undefined) throw unauthorized();
  return row;
}

/** Finds a caller who may use the service, even if they are a member of no project. @throws AppError 401, 403 */
async function findAdmitted({ config, db }: App, tokenId: string): Promise<Caller> {
  const row = await readCaller(db, tokenId);
  if (!row.isAdmitted && config.SIGN_IN === 'members') throw notAdmitted();
  return callerOf(row, tokenId);
}

/** Allows anyone with a live token who may use the service. */
export const anyUser: Access<{ user: Caller }> = {
  kind: 'user',
  load: async (app, { tokenId }) => ({ user: await findAdmitted(app, tokenId) }),
};

/** How to find an object and its project by the object's id. The parts are SQL, so they must never contain input. */
export interface ObjectSource {
  /** The object's name in errors: `Task`. */
  kind: string;
  /** The property under which the handler receives the object. */
  as: string;
  columns: string;
  from: string;
  id: string;
  project: string;
  param: string;
}

/**
 * Allows access to an object by its own id. One statement reads token, object and membership. A caller who may not see
 * the object gets the same 404 as for an unknown id.
 */
export function accessTo<Row extends object, As extends string>(source: ObjectSource & { as: As }) {
  const statement = `
    select ${caller}, m.role as "callerRole", x.*
    from api_tokens tok
    join users u on u.id = tok.user_id
    left join lateral (select ${source.columns}, ${source.project} as "memberOf" from ${source.from}
      where ${source.id} = $2) x on true
    left join members m on m.project_id = x."memberOf" and m.user_id = tok.user_id
    where ${liveToken}`;
  return (role: Role): Access<{ user: Caller; role: Role } & { [name in As]: Row }> => ({
    kind: 'object',
    role,
    names: source.param,
    load: async (app, { tokenId, params }) => {
      const id = params[source.param] ?? '';
      const [row] = await app.db.prepared<Row & MemberColumns>(`access ${source.as}`, statement, [
        tokenId,
        idOrEmpty(id),
      ]);
      if (row === undefined) throw unauthorized();
      if (row.callerRole === null) throw notFound(source.kind, id);
      if (!hasRole(row.callerRole, role)) throw requiresRole(role);
      const found = { user: callerOf(row, tokenId), role: row.callerRole, [source.as]: row };
      return found as unknown as { user: Caller; role: Role } & { [name in As]: Row };
    },
  });
}

export interface InProject {
  user: Caller;
  role: Role;
  projectId: string;
}

/**
 * Allows access to `/projects/:projectId/…`. Replies 404 for an unknown project, 403 to callers who are not members or
 * whose role is too low.
 */
export function inProject(role: Role): Access<InProject> {
  return {
    kind: 'project',
    role,
    names: 'projectId',
    load: (app, { tokenId, params }) => enterProject(app.db, tokenId, params.projectId ?? '', role),
  };
}

/** The object of an operation on the project itself, for its audit record. */
export function theProject({ projectId }: Pick<InProject, 'projectId'>) {
  return { id: projectId, projectId };
}

/** Does the same as `inProject` for a `projectId` in the body. If it is missing, the body's validation reports that. */
export function inProjectOfBody(role: Role): Access<InProject> {
  return {
    kind: 'projectInBody',
    role,
    names: 'projectId',
    load: async (app, { tokenId, body }) => {
      const id = (body as { projectId?: unknown } | undefined)?.projectId;
      if (typeof id === 'string') return enterProject(app.db, tokenId, id, role);
      return { user: await findAdmitted(app, tokenId), role, projectId: '' };
    },
  };
}

/** Does the same as `inProject` for an optional `projectId` in the query; null means everything visible to the caller. */
export const inProjectOfQuery: Access<{ user: Caller; projectId: string | null }> = {
  kind: 'projectInQuery',
  role: 'viewer',
  names: 'projectId',
  load: async (app, { tokenId, query }) =>
    typeof query.projectId === 'string'
      ? enterProject(app.db, tokenId, query.projectId, 'viewer')
      : { user: await findAdmitted(app, tokenId), projectId: null },
};

async function enterProject(db: Database, tokenId: string, id: string, role: Role): Promise<InProject> {
  const [row] = await db.prepared<MemberColumns & { projectId: string | null }>(
    'access project',
    `select ${caller}, p.id as "projectId", m.role as "callerRole"
     from api_tokens tok
     join users u on u.id = tok.user_id
     left join projects p on p.id = $2
     left join members m on m.project_id = p.id and m.user_id = u.id
     where ${liveToken}`,
    [tokenId, idOrEmpty(id)],
  );
  if (row === undefined) throw unauthorized();
  if (row.projectId === null) throw notFound('Project', id);
  if (row.callerRole === null) throw notAMember(id);
  if (!hasRole(row.callerRole, role)) throw requiresRole(role);
  return { user: callerOf(row, tokenId), role: row.callerRole, projectId: row.projectId };
}

/** Returns the id, or an empty string for an id with NUL, which PostgreSQL refuses in parameters. */
export function idOrEmpty(id: string): string {
  return id.includes('\0') ? '' : id;
}

/** Hands a parameter of the path on to the handler. */
export function withParam<C, N extends string>(
  { load, ...access }: Access<C>,
  name: N,
): Access<C & { [each in N]: string }> {
  return {
    ...access,
    load: async (app, asked) => ({ ...(await load(app, asked)), [name]: asked.params[name] ?? '' }) as never,
  };
}
