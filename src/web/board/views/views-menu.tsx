import { ActionList, ActionMenu, Flash, FormControl, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useState } from 'react';
import * as api from '../../api.ts';
import { FormButtons, FormDialog } from '../../forms/form-dialog.tsx';
import { useMay } from '../../forms/may.tsx';
import { submitOnce } from '../../forms/submit.ts';
import { notify, notifyError } from '../../frame/notices.tsx';
import { errorMessage } from '../../live/errors.ts';
import * as queries from '../../live/queries.ts';
import type { LazyMenu } from '../use-lazy-menu.ts';
import { type ViewsProps, viewQueryOf } from './view-query.ts';

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
  const maySave = useMay('member');
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
            {maySave && <ActionList.Divider />}
            {maySave && (
              <ActionList.Item disabled={current === ''} onSelect={() => setSaving(true)}>
                Save current view…
              </ActionList.Item>
            )}
            {maySave && saved && (
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

/** Asks for a name and saves the filters and the sorting under it. */
function SaveViewDialog(props: {
  projectId: string;
  query: string;
  returnFocusRef: RefObject<HTMLElement | null>;
  onClose(): void;
}) {
  const { projectId, query, returnFocusRef, onClose } = props;
  const client = useQueryClient();
  const [text, setText] = useState('');
  const name = text.trim();
  const save = useMutation({
    mutationFn: () => api.saveView(projectId, name, { query }),
    onSuccess: () => {
      notify(`View “${name}” saved`, 'success');
      onClose();
      return client.invalidateQueries({ queryKey: queries.views(projectId).queryKey });
    },
  });
  return (
    <FormDialog title="Save view" returnFocusRef={returnFocusRef} onClose={onClose}>
      <form className="stack" onSubmit={submitOnce(save, () => name !== '')}>
        {save.error && <Flash variant="danger">{errorMessage(save.error)}</Flash>}
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block maxLength={60} value={text} onChange={(event) => setText(event.target.value)} />
          <FormControl.Caption>A view with the same name is replaced. Only you see your views.</FormControl.Caption>
        </FormControl>
        <FormButtons submit="Save view" isBusy={save.isPending} onCancel={onClose} />
      </form>
    </FormDialog>
  );
}
