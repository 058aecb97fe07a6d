import {
  ActionList,
  ActionMenu,
  Button,
  Flash,
  FormControl,
  Heading,
  Select,
  TextInput,
  useConfirm,
} from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link, useParams } from 'react-router';
import { hasRole, type Role, roles } from '../../domain/agent.ts';
import * as api from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { useMay } from '../forms/may.tsx';
import { submitOnce, useRefusedField } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { errorMessage, isAboutFields, statusOf } from '../live/errors.ts';
import * as queries from '../live/queries.ts';
import { RowLine } from '../rows/row-actions.tsx';

export function MembersPage() {
  usePageTitle('Members');
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  const query = useQuery(queries.members(projectId));
  const ownRole = project.data?.role ?? 'viewer';
  const mayManage = useMay('admin');
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Members
      </Heading>
      <p className="muted">
        Viewers can see all work and change nothing. Members work on tasks. Admins also manage members and settings, and
        see the audit log. Owners can also delete the project.
        {project.data !== undefined && !mayManage && ` As a ${ownRole}, you can view this list and leave the project.`}
      </p>
      <QueryResult query={query}>
        {(members) => (
          <ul className="list">
            {members.map((member) => (
              <MemberItem
                key={member.userId}
                member={member}
                isOnlyOwner={isOnlyOwner(member, members)}
                projectId={projectId}
                ownRole={ownRole}
              />
            ))}
          </ul>
        )}
      </QueryResult>
      {mayManage && (
        <>
          <AddMember projectId={projectId} ownRole={ownRole} />
          <p>
            <Link to={`/projects/${projectId}/settings/audit`}>See who changed what</Link>
          </p>
        </>
      )}
    </div>
  );
}

function AddMember({ projectId, ownRole }: { projectId: string; ownRole: Role }) {
  const client = useQueryClient();
  const [login, setLogin] = useState('');
  const [role, setRole] = useState<Role>('member');
  const add = useMutation({
    mutationFn: () => api.addMember(projectId, { login: login.trim().replace(/^@/, ''), role }),
    onSuccess: () => {
      setLogin('');
      setRole('member');
      return client.invalidateQueries({ queryKey: ['members', projectId] });
    },
  });
  const label = 'GitHub username';
  // A conflict says that the person is a member already.
  const isRefused = statusOf(add.error) === 409 || isAboutFields(add.error, ['login']);
  const form = useRefusedField(isRefused && add.error);
  const problem = useId();
  return (
    <form className="stack" ref={form} onSubmit={submitOnce(add)}>
      {add.error && (
        // Below the field, it would push the others of its row apart.
        <Flash variant="danger" id={problem}>
          {errorMessage(add.error, { login: label })}
        </Flash>
      )}
      <div className="row wrap-row bottom-aligned">
        <FormControl required>
          <FormControl.Label>{label}</FormControl.Label>
          <TextInput
            value={login}
            {...(isRefused ? { validationStatus: 'error', 'aria-describedby': problem } : {})}
            onChange={(event) => {
              setLogin(event.target.value);
              add.reset();
            }}
          />
        </FormControl>
        <FormControl>
          <FormControl.Label>Role</FormControl.Label>
          <Select value={role} onChange={(event) => setRole(event.target.value as Role)}>
            {rolesFor(ownRole).map((each) => (
              <Select.Option key={each} value={each}>
                {sentenceCase(each)}
              </Select.Option>
            ))}
          </Select>
        </FormControl>
        <Button type="submit" variant="primary" loading={add.isPending}>
          Add member
        </Button>
      </div>
    </form>
  );
}

function MemberItem(props: { member: api.Member; isOnlyOwner: boolean; projectId: string; ownRole: Role }) {
  const { member, isOnlyOwner, projectId, ownRole } = props;
  const { isMe, changeRole, remove } = useMember(projectId, member, isOnlyOwner);
  const canEdit = hasRole(ownRole, member.role === 'owner' ? 'owner' : 'admin');
  return (
    <li className="list-item">
      <RowLine
        actions={
          <div className="row-actions">
            {canEdit ? (
              <ActionMenu>
                <ActionMenu.Button size="small" aria-label={`Role of ${member.login}: ${sentenceCase(member.role)}`}>
                  {sentenceCase(member.role)}
                </ActionMenu.Button>
                <ActionMenu.Overlay align="end">
                  <ActionList selectionVariant="single">
                    {rolesFor(ownRole).map((role) => (
                      <ActionList.Item
                        key={role}
                        selected={role === member.role}
                        onSelect={() => role !== member.role && void changeRole(role)}
                      >
                        {sentenceCase(role)}
                      </ActionList.Item>
                    ))}
                  </ActionList>
                </ActionMenu.Overlay>
              </ActionMenu>
            ) : (
              <span>{sentenceCase(member.role)}</span>
            )}
            {(canEdit || isMe) && (
              <Button
                size="small"
                variant="danger"
                aria-label={isMe ? 'Leave the project' : `Remove ${member.login}`}
                onClick={() => void remove()}
              >
                {isMe ? 'Leave' : 'Remove'}
              </Button>
            )}
          </div>
        }
      >
        <span className="strong">{member.login}</span>
        {member.name !== '' && member.name !== member.login && <bdi className="muted">{member.name}</bdi>}
      </RowLine>
    </li>
  );
}

/** The service refuses to leave a project without an owner, so nobody is asked to confirm that. */
const isOnlyOwner = ({ role }: api.Member, members: api.Member[]) =>
  role === 'owner' && members.filter((each) => each.role === 'owner').length === 1;

/** Returns the roles that a person with a role can give. Only owners can make others owners. */
const rolesFor = (ownRole: Role) => (ownRole === 'owner' ? roles : roles.filter((role) => role !== 'owner'));

/** Returns the actions on a member of a project, changing the role and removing, with confirmations where needed. */
function useMember(projectId: string, { userId, login, role }: api.Member, isOnlyOwner: boolean) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const me = useQuery(queries.me());
  const isMe = me.data?.id === userId;
  const refetch = async () => {
    await client.invalidateQueries({ queryKey: ['members', projectId] });
    await client.invalidateQueries({ queryKey: ['project', projectId] });
  };
  const change = useMutation({
    mutationFn: (next: Role) => api.updateMember(projectId, userId, { role: next }),
    onSuccess: async (_, next) => {
      await refetch();
      notify(`${isMe ? 'Your' : `${login}’s`} role is now ${sentenceCase(next)}`, 'success');
    },
    onError: notifyError,
  });
  const removal = useMutation({
    mutationFn: () => api.removeMember(projectId, userId),
    onSuccess: () => (isMe ? window.location.assign('/projects') : refetch()),
    onError: notifyError,
  });
  const onlyOwner = `${isMe ? 'You are' : `${login} is`} the only owner of the project. Make somebody else an owner first.`;
  const changeRole = async (next: Role) => {
    if (isOnlyOwner) return notify(onlyOwner, 'danger');
    const needsConfirmation = isMe || next === 'owner' || role === 'owner';
    const question = {
      title: `Change ${isMe ? 'your' : `${login}’s`} role to ${sentenceCase(next)}?`,
      content: 'Owners have full control of the project, and only owners can appoint or remove owners.',
      confirmButtonContent: 'Change role',
    };
    if (!needsConfirmation || (await confirm(question))) change.mutate(next);
  };
  const remove = async () => {
    if (isOnlyOwner) return notify(onlyOwner, 'danger');
    const isConfirmed = await confirm({
      title: isMe ? 'Leave this project?' : `Remove ${login}?`,
      content: isMe
        ? 'Your work stays. You lose access to the project.'
        : 'Their work stays. They lose access to the project.',
      confirmButtonContent: isMe ? 'Leave project' : 'Remove member',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) removal.mutate();
  };
  return { isMe, changeRole, remove };
}
