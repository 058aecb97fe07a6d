/** Roles of a project's members, weakest first; each may do what the ones before it may (contract, section 5). */
export const roles = ['member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, required: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(required);
}
