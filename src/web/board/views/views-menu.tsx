import { ActionList, ActionMenu } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../../api.ts';
import { notify, notifyError } from '../../frame/notices.tsx';
import { errorMessage } from '../../live/errors.ts';
import * as queries from '../../live/queries.ts';
import type { LazyMenu } from '../use-lazy-menu.ts';
import { SaveViewDialog } from './save-view-dialog.tsx';
import { viewQueryOf } from './view-query.ts';
import type { ViewsProps } from './views-button.tsx';

/** Lists the saved views of the board, applies one, and saves or deletes the current one. */
export function ViewsMenu({
  projectId,
  searchParams,
  onApply,
  anchorRef,
  isOpen,
  onOpenChange,
}: ViewsProps & LazyMenu) {
  const { data: views = [], error, isPending } = useQuery(queries.views(projectId));
  const [isSaving, setSaving] = useState(false);
  const remove = useRemoveView(projectId);
  const current = viewQueryOf(searchParams);
  const saved = views.find(({ query }) => query === current);
  return (
    <>
      <ActionMenu anchorRef={anchorRef} open={isOpen} onOpenChange={onOpenChange}>
        <ActionMenu.Overlay align="end" width="medium">
          <ActionList>
            <ActionList.Group selectionVariant="single">
              <ActionList.GroupHeading>Views</ActionList.GroupHeading>
              <ActionList.Item selected={current === ''} onSelect={() => onApply('')}>
                All tasks
              </ActionList.Item>
              {views.map(({ name, query }) => (
                <ActionList.Item key={name} selected={query === current} onSelect={() => onApply(query)}>
                  <bdi>{name}</bdi>
                </ActionList.Item>
              ))}
              {isPending && <ActionList.Item disabled>Loading…</ActionList.Item>}
              {error && <ActionList.Item disabled>{errorMessage(error)}</ActionList.Item>}
            </ActionList.Group>
            <ActionList.Divider />
            <ActionList.Item disabled={current === ''} onSelect={() => setSaving(true)}>
              Save current view…
            </ActionList.Item>
            {saved && (
              <ActionList.Item variant="danger" onSelect={() => remove.mutate(saved.name)}>
                Delete “<bdi>{saved.name}</bdi>”
              </ActionList.Item>
            )}
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      {isSaving && (
        <SaveViewDialog
          projectId={projectId}
          query={current}
          returnFocusRef={anchorRef}
          onClose={() => setSaving(false)}
        />
      )}
    </>
  );
}

function useRemoveView(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => api.deleteView(projectId, name),
    onSuccess: (_reply, name) => {
      notify(`View “${name}” deleted`, 'success');
      return client.invalidateQueries({ queryKey: queries.views(projectId).queryKey });
    },
    onError: notifyError,
  });
}
