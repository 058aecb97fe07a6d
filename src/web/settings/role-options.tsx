import { Select } from '@primer/react';
import type { Member } from '../api.ts';
import { sentenceCase } from '../display/names.ts';

export type Role = Member['role'];

const roles: Role[] = ['member', 'admin', 'owner'];

/** Shows the options of a select for roles. Only owners can make others owners. */
export function RoleOptions({ ownRole }: { ownRole: Role }) {
  const options = ownRole === 'owner' ? roles : roles.filter((role) => role !== 'owner');
  return options.map((role) => (
    <Select.Option key={role} value={role}>
      {sentenceCase(role)}
    </Select.Option>
  ));
}
