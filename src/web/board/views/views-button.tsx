import { TriangleDownIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { lazyPart } from '../../live/load-part.ts';
import * as queries from '../../live/queries.ts';
import { useLazyMenu } from '../use-lazy-menu.ts';
import { type ViewsProps, viewQueryOf } from './view-query.ts';

const ViewsMenu = lazyPart(async () => ({ default: (await import('./views-menu.tsx')).ViewsMenu }));

/**
 * Shows the button that opens the menu of saved views, with the name of the view that is applied. It fetches the views when the
 * menu is first opened, or when the board is filtered or sorted, because a view may do the same.
 */
export function ViewsButton(props: ViewsProps) {
  const { button, menu } = useLazyMenu();
  const current = viewQueryOf(props.searchParams);
  const { data: views } = useQuery({ ...queries.views(props.projectId), enabled: current !== '' });
  const applied = current === '' ? undefined : views?.find(({ query }) => query === current);
  return (
    <>
      <Button trailingVisual={TriangleDownIcon} {...button}>
        {applied === undefined ? (
          'Views'
        ) : (
          <span className="view-name">
            View: <bdi>{applied.name}</bdi>
          </span>
        )}
      </Button>
      <Suspense>{menu && <ViewsMenu {...props} {...menu} />}</Suspense>
    </>
  );
}
