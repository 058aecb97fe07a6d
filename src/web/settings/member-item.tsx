import { Button, Select } from '@primer/react';
import type { Member } from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { type Role, RoleOptions } from './role-options.tsx';
import { useMember } from './use-member.ts';

export function MemberItem({ member, projectId, ownRole }: { member: Member; projectId: string; ownRole: Role }) {
  const { isMe, changeRole, remove } = useMember(projectId, member);
  const canEdit = ownRole === 'owner' || (ownRole === 'admin' && member.role !== 'owner');
  return (
    <li className="list-item">
      <span className="strong">{member.login}</span>
      {member.name !== '' && member.name !== member.login && <bdi className="muted">{member.name}</bdi>}
      <span className="grow" />
      {canEdit ? (
        <Select
          size="small"
          aria-label={`Role of ${member.login}`}
          value={member.role}
          onChange={(event) => void changeRole(event.target.value as Role)}
        >
          <RoleOptions ownRole={ownRole} />
        </Select>
      ) : (
        <span>{sentenceCase(member.role)}</span>
      )}
      {(canEdit || isMe) && (
        <Button size="small" variant="danger" onClick={() => void remove()}>
          {isMe ? 'Leave' : 'Remove'}
        </Button>
      )}
    </li>
  );
}
