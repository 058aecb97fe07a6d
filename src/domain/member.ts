/** The roles of a project's members, weakest first. Each role includes the rights of the roles before it. */
export const roles = ['member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, required: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(required);
}
