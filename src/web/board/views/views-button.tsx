import { TriangleDownIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { Suspense } from 'react';
import { lazyPart } from '../../live/load-part.ts';
import { useLazyMenu } from '../use-lazy-menu.ts';

const ViewsMenu = lazyPart(async () => ({ default: (await import('./views-menu.tsx')).ViewsMenu }));

export interface ViewsProps {
  projectId: string;
  searchParams: URLSearchParams;
  onApply(query: string): void;
}

/** Shows the button that opens the menu of saved views. Views are fetched when it is first opened. */
export function ViewsButton(props: ViewsProps) {
  const { button, menu } = useLazyMenu();
  return (
    <>
      <Button trailingVisual={TriangleDownIcon} {...button}>
        Views
      </Button>
      <Suspense>{menu && <ViewsMenu {...props} {...menu} />}</Suspense>
    </>
  );
}
