import { TriangleDownIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { Suspense, useRef, useState } from 'react';
import { lazyPart } from '../../live/load-part.ts';

const ViewsMenu = lazyPart(async () => ({ default: (await import('./views-menu.tsx')).ViewsMenu }));

export interface ViewsProps {
  projectId: string;
  searchParams: URLSearchParams;
  onApply(query: string): void;
}

/** Shows the button that opens the menu of saved views. Views are fetched when it is first opened. */
export function ViewsButton(props: ViewsProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [wasOpened, setOpened] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpened(true);
    setOpen(true);
  };
  return (
    <>
      <Button ref={button} trailingVisual={TriangleDownIcon} aria-haspopup="true" aria-expanded={isOpen} onClick={open}>
        Views
      </Button>
      <Suspense>
        {wasOpened && <ViewsMenu {...props} anchorRef={button} isOpen={isOpen} onOpenChange={setOpen} />}
      </Suspense>
    </>
  );
}
