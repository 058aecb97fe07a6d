import { ActionList, ActionMenu } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { PersonMark } from '../../display/status-labels.tsx';
import { useMay } from '../../forms/may.tsx';
import { notify, notifyError } from '../../frame/notices.tsx';
import { putTask } from '../../live/put-task.ts';
import * as queries from '../../live/queries.ts';

/** Shows who is responsible for a task, in a button whose menu offers the members of its project. Viewers only read it. */
export function ResponsiblePicker({ task }: { task: api.Task }) {
  const client = useQueryClient();
  const { data: members } = useQuery(queries.members(task.projectId));
  const current = members?.find(({ userId }) => userId === task.responsible);
  const choose = useMutation({
    mutationFn: (member: api.Member | null) => api.updateTask(task.id, { responsible: member?.userId ?? null }),
    onSuccess: (changed, member) => {
      putTask(client, changed);
      void client.invalidateQueries({ queryKey: ['inbox'] });
      notify(member === null ? 'Nobody is responsible now' : `${member.login} is responsible now`, 'success');
    },
    onError: notifyError,
  });
  const mayChoose = useMay('member');
  const name = nameOf(task, members, current);
  const mark = current && {
    leadingVisual: <PersonMark login={current.login} avatarUrl={current.avatarUrl} size={16} />,
  };
  if (!mayChoose)
    return (
      <span className="row">
        {mark?.leadingVisual}
        {task.responsible !== null && <span className="sr-only">Responsible: </span>}
        <bdi>{name}</bdi>
      </span>
    );
  return (
    <ActionMenu>
      <ActionMenu.Button
        size="small"
        variant="invisible"
        loading={choose.isPending}
        disabled={members === undefined}
        {...mark}
      >
        {task.responsible !== null && <span className="sr-only">Responsible: </span>}
        {name}
      </ActionMenu.Button>
      <ActionMenu.Overlay width="medium">
        <ActionList selectionVariant="single" aria-label="Responsible person">
          <ActionList.Item selected={task.responsible === null} onSelect={() => choose.mutate(null)}>
            Nobody
          </ActionList.Item>
          {members?.filter(mayDecide).map((member) => (
            <ActionList.Item
              key={member.userId}
              selected={member.userId === task.responsible}
              onSelect={() => choose.mutate(member)}
            >
              <ActionList.LeadingVisual>
                <PersonMark login={member.login} avatarUrl={member.avatarUrl} size={16} />
              </ActionList.LeadingVisual>
              <bdi>{member.login}</bdi>
            </ActionList.Item>
          ))}
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

const mayDecide = ({ role }: api.Member) => role !== 'viewer';

function nameOf({ responsible }: api.Task, members: api.Member[] | undefined, current: api.Member | undefined): string {
  if (responsible === null) return 'Nobody responsible';
  if (members === undefined) return '…';
  return current?.login ?? 'Somebody who left';
}
