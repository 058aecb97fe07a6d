import { useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import type { Role } from './role-options.tsx';

/** Returns the actions on a member of a project, changing the role and removing, with confirmations where needed. */
export function useMember(projectId: string, { userId, login, role }: api.Member) {
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
    onSuccess: refetch,
    onError: notifyError,
  });
  const removal = useMutation({
    mutationFn: () => api.removeMember(projectId, userId),
    onSuccess: () => (isMe ? window.location.assign('/projects') : refetch()),
    onError: notifyError,
  });
  const changeRole = async (next: Role) => {
    const needsConfirmation = isMe || next === 'owner' || role === 'owner';
    const question = {
      title: `Change ${isMe ? 'your' : `${login}’s`} role to ${sentenceCase(next)}?`,
      content: 'Owners have full control of the project, and only owners can appoint or remove owners.',
      confirmButtonContent: 'Change role',
    };
    if (!needsConfirmation || (await confirm(question))) change.mutate(next);
  };
  const remove = async () => {
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
