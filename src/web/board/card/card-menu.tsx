import { KebabHorizontalIcon } from '@primer/octicons-react';
import { Suspense } from 'react';
import type { TaskCard } from '../../api.ts';
import { lazyPart } from '../../live/load-part.ts';
import { useLazyMenu } from '../use-lazy-menu.ts';

const TaskMenu = lazyPart(async () => ({ default: (await import('./task-menu.tsx')).TaskMenu }));

/** Shows the button that opens the menu of a card. A menu for each of the visible cards would make the board slow. */
export function CardMenu({ task }: { task: TaskCard }) {
  const { button, menu } = useLazyMenu();
  return (
    <>
      <button type="button" className="icon-button" aria-label={`Actions for ${task.title.slice(0, 60)}`} {...button}>
        <KebabHorizontalIcon />
      </button>
      <Suspense>{menu && <TaskMenu task={task} {...menu} />}</Suspense>
    </>
  );
}
