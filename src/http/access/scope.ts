import type { App } from '../../app.ts';
import { hasRole, includesScope, type Role, type Scope } from '../../domain/agent.ts';
import { requiresRole, requiresScope } from '../../errors.ts';
import type { Route } from '../route.ts';
import type { Asked, Caller } from './access.ts';

/** Returns the scope that a token needs to do what takes a role. */
function scopeOfRole(role: Role | undefined): Scope {
  return role === 'admin' || role === 'owner' ? 'admin' : 'write';
}

/** Returns the least scope of a token that a route needs. Reads need the least one, whatever role they take. */
export function scopeOf({ method, access }: Pick<Route, 'method' | 'access'>): Scope {
  return method === 'get' ? 'read' : scopeOfRole(access.role);
}

/** @throws AppError 403 naming the scope */
export function assertScope({ scope }: Caller, needed: Scope): void {
  if (!includesScope(scope, needed)) throw requiresScope(needed, scope);
}

/**
 * Checks a role that an operation takes beyond that of its route, for example because of a parameter. The caller's token
 * must suffice, too.
 * @throws AppError 403 naming the role or the scope
 */
export function assertRole({ user, role }: { user: Caller; role: Role }, needed: Role): void {
  if (!hasRole(role, needed)) throw requiresRole(needed);
  assertScope(user, scopeOfRole(needed));
}

/**
 * Finds what a request is about, and checks that the caller and their token may do it.
 * @throws AppError 401, 403, 404
 */
export async function enter(app: App, declared: Route, asked: Asked): Promise<{ user?: Caller }> {
  const context: { user?: Caller } = await declared.access.load(app, asked);
  if (context.user !== undefined) assertScope(context.user, scopeOf(declared));
  return context;
}
