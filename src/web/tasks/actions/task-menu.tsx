import { KebabHorizontalIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, IconButton, useConfirm } from '@primer/react';
import { lazy, Suspense, useState } from 'react';
import { useNavigate } from 'react-router';
import type { Task } from '../../api.ts';
import { type Act, actNames, actsOf } from './task-actions.ts';
import { useTaskAct } from './use-task-action.ts';

const AskText = lazy(async () => ({ default: (await import('../../forms/text-dialog.tsx')).AskText }));

/** Does what was chosen; asks first where it cannot be taken back, and for words where the agent needs them. */
export function useChosenAct() {
  const { mutate, isPending } = useTaskAct();
  const confirm = useConfirm();
  const [asking, setAsking] = useState<{ task: Task; act: 'retry' | 'revise' }>();
  const choose = async (task: Task, act: Act) => {
    if (act === 'retry' || act === 'revise') return setAsking({ task, act });
    const question = questions[act];
    if (question !== undefined && !(await confirm({ ...question, title: actNames[act] }))) return;
    mutate({ task, act });
  };
  const dialog = asking && (
    <Suspense>
      <AskText
        title={actNames[asking.act]}
        label={asking.act === 'retry' ? 'A hint for the agent (optional)' : 'What should change?'}
        isRequired={asking.act === 'revise'}
        onClose={() => setAsking(undefined)}
        onText={(text) => mutate({ ...asking, text })}
      />
    </Suspense>
  );
  return { choose, isPending, dialog };
}

const questions: Partial<
  Record<
    Act,
    { content: string; confirmButtonContent: string; cancelButtonContent?: string; confirmButtonType?: 'danger' }
  >
> = {
  cancel: {
    content: 'The agent stops. What it has pushed stays on its branch.',
    confirmButtonContent: 'Cancel the run',
    cancelButtonContent: 'Let it run',
    confirmButtonType: 'danger',
  },
  merge: { content: 'The pull requests of this task are merged on GitHub.', confirmButtonContent: 'Merge' },
};

/** The menu on a card: opens the task, and moves it in every way that is allowed now. */
export function TaskMenu({ task }: { task: Task }) {
  const { choose, dialog } = useChosenAct();
  const go = useNavigate();
  return (
    <>
      <ActionMenu>
        <ActionMenu.Anchor>
          <IconButton
            icon={KebabHorizontalIcon}
            aria-label={`Actions for ${task.title.slice(0, 60)}`}
            variant="invisible"
            size="small"
            tooltipDirection="w"
          />
        </ActionMenu.Anchor>
        <ActionMenu.Overlay align="end">
          <ActionList>
            <ActionList.Item onSelect={() => void go(`/tasks/${task.id}`)}>Open</ActionList.Item>
            {actsOf(task).map((act) => (
              <ActionList.Item key={act} onSelect={() => void choose(task, act)}>
                {actNames[act]}
              </ActionList.Item>
            ))}
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      {dialog}
    </>
  );
}
