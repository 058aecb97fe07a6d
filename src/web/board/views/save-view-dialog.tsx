import { Flash, FormControl, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useState } from 'react';
import * as api from '../../api.ts';
import { FormButtons, FormDialog } from '../../forms/form-dialog.tsx';
import { submitOnce } from '../../forms/submit.ts';
import { notify } from '../../frame/notices.tsx';
import { errorMessage } from '../../live/errors.ts';
import * as queries from '../../live/queries.ts';

/** Asks for a name and saves the filters and the sorting under it. */
export function SaveViewDialog(props: {
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
