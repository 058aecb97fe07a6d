import { Button, Flash, FormControl, Heading, Select, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'react-router';
import * as api from '../api.ts';
import { Shown } from '../display/query-result.tsx';
import { submitting } from '../forms/submit-once.ts';
import { notifyError } from '../frame/notices.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

type Role = api.Member['role'];
const roles: Role[] = ['member', 'admin', 'owner'];

export function MembersPage() {
  useTitle('Members');
  const { projectId = '' } = useParams();
  const project = useQuery(q.project(projectId));
  const asked = useQuery(q.members(projectId));
  const role = project.data?.role ?? 'member';
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Members
      </Heading>
      <p className="muted">
        Members work with tasks; admins also manage members and settings; owners also delete the project.
        {role === 'member' && ' You are a member, so you can look, and leave.'}
      </p>
      <Shown of={asked}>
        {(members) => (
          <ul className="list">
            {members.map((member) => (
              <Member key={member.userId} member={member} projectId={projectId} role={role} />
            ))}
          </ul>
        )}
      </Shown>
      {role !== 'member' && <Add projectId={projectId} role={role} />}
    </div>
  );
}

/** Only owners make and unmake owners. */
const choosable = (mine: Role) => (mine === 'owner' ? roles : roles.filter((r) => r !== 'owner'));

function Member({ member, projectId, role }: { member: api.Member; projectId: string; role: Role }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const me = useQuery(q.me());
  const again = async () => {
    await client.invalidateQueries({ queryKey: ['members', projectId] });
    await client.invalidateQueries({ queryKey: ['project', projectId] });
  };
  const change = useMutation({
    mutationFn: (to: Role) => api.patchProjectsByProjectIdMembersByUserId(projectId, member.userId, { role: to }),
    onSuccess: again,
    onError: notifyError,
  });
  const isMe = me.data?.id === member.userId;
  const remove = useMutation({
    mutationFn: () => api.deleteProjectsByProjectIdMembersByUserId(projectId, member.userId),
    onSuccess: () => (isMe ? window.location.assign('/') : again()),
    onError: notifyError,
  });
  const choose = async (to: Role) => {
    const isGrave = isMe || to === 'owner' || member.role === 'owner';
    const question = {
      title: `Make ${isMe ? 'yourself' : member.login} ${to}`,
      content: 'Owners can do everything, and only they make and unmake owners.',
      confirmButtonContent: `Make ${to}`,
    };
    if (!isGrave || (await confirm(question))) change.mutate(to);
  };
  const mayChange = role === 'owner' || (role === 'admin' && member.role !== 'owner');
  const what = isMe ? 'Leave' : 'Remove';
  const ask = async () => {
    const isSure = await confirm({
      title: isMe ? 'Leave the project' : `Remove ${member.login}`,
      content: 'What was done stays; the project is not seen any more.',
      confirmButtonContent: what,
      confirmButtonType: 'danger',
    });
    if (isSure) remove.mutate();
  };
  return (
    <li className="list-item">
      <span className="strong">{member.login}</span>
      {member.name !== '' && <bdi className="muted">{member.name}</bdi>}
      <span className="grow" />
      {mayChange ? (
        <Select
          size="small"
          aria-label={`Role of ${member.login}`}
          value={member.role}
          onChange={(event) => void choose(event.target.value as Role)}
        >
          {choosable(role).map((each) => (
            <Select.Option key={each} value={each}>
              {each}
            </Select.Option>
          ))}
        </Select>
      ) : (
        <span>{member.role}</span>
      )}
      {(mayChange || isMe) && (
        <Button size="small" variant="danger" onClick={() => void ask()}>
          {what}
        </Button>
      )}
    </li>
  );
}

function Add({ projectId, role }: { projectId: string; role: Role }) {
  const client = useQueryClient();
  const [login, setLogin] = useState('');
  const [as, setAs] = useState<Role>('member');
  const add = useMutation({
    mutationFn: () => api.postProjectsByProjectIdMembers(projectId, { login: login.trim(), role: as }),
    onSuccess: () => {
      setLogin('');
      return client.invalidateQueries({ queryKey: ['members', projectId] });
    },
  });
  const send = submitting(add);
  return (
    <form className="stack" onSubmit={send}>
      {add.error && <Flash variant="danger">{explain(add.error)}</Flash>}
      <div className="row wrap-row bottom-aligned">
        <FormControl required>
          <FormControl.Label>GitHub login</FormControl.Label>
          <TextInput value={login} onChange={(event) => setLogin(event.target.value)} />
        </FormControl>
        <FormControl>
          <FormControl.Label>As</FormControl.Label>
          <Select value={as} onChange={(event) => setAs(event.target.value as Role)}>
            {choosable(role).map((each) => (
              <Select.Option key={each} value={each}>
                {each}
              </Select.Option>
            ))}
          </Select>
        </FormControl>
        <Button type="submit" variant="primary" loading={add.isPending}>
          Add
        </Button>
      </div>
    </form>
  );
}
