import { KebabHorizontalIcon } from '@primer/octicons-react';
import { Suspense, useRef, useState } from 'react';
import type { TaskCard } from '../../api.ts';
import { lazyPart } from '../../live/load-part.ts';

const TaskMenu = lazyPart(async () => ({ default: (await import('./task-menu.tsx')).TaskMenu }));

/** Shows the button that opens the menu of a card. A menu for each of the visible cards would make the board slow. */
export function CardMenu({ task }: { task: TaskCard }) {
  const button = useRef<HTMLButtonElement>(null);
  const [wasOpened, setOpened] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpened(true);
    setOpen(true);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="icon-button"
        aria-label={`Actions for ${task.title.slice(0, 60)}`}
        aria-haspopup="true"
        aria-expanded={isOpen}
        onClick={open}
      >
        <KebabHorizontalIcon />
      </button>
      <Suspense>
        {wasOpened && <TaskMenu task={task} anchorRef={button} isOpen={isOpen} onOpenChange={setOpen} />}
      </Suspense>
    </>
  );
}
