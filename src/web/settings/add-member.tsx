import { Button, Flash, FormControl, Select, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { submitOnce } from '../forms/submit.ts';
import { errorMessage } from '../live/errors.ts';
import { type Role, RoleOptions } from './role-options.tsx';

export function AddMember({ projectId, ownRole }: { projectId: string; ownRole: Role }) {
  const client = useQueryClient();
  const [login, setLogin] = useState('');
  const [role, setRole] = useState<Role>('member');
  const add = useMutation({
    mutationFn: () => api.addMember(projectId, { login: login.trim(), role }),
    onSuccess: () => {
      setLogin('');
      setRole('member');
      return client.invalidateQueries({ queryKey: ['members', projectId] });
    },
  });
  return (
    <form className="stack" onSubmit={submitOnce(add)}>
      {add.error && <Flash variant="danger">{errorMessage(add.error, { login: 'GitHub username' })}</Flash>}
      <div className="row wrap-row bottom-aligned">
        <FormControl required>
          <FormControl.Label>GitHub username</FormControl.Label>
          <TextInput value={login} onChange={(event) => setLogin(event.target.value)} />
        </FormControl>
        <FormControl>
          <FormControl.Label>Role</FormControl.Label>
          <Select value={role} onChange={(event) => setRole(event.target.value as Role)}>
            <RoleOptions ownRole={ownRole} />
          </Select>
        </FormControl>
        <Button type="submit" variant="primary" loading={add.isPending}>
          Add member
        </Button>
      </div>
    </form>
  );
}
