import { Button } from '@primer/react';
import { useSearchParams } from 'react-router';
import { FormDialog } from '../forms/form-dialog.tsx';
import { NewTaskForm } from './new-task-form.tsx';

/** Creates one task with its details, or several from a list of titles. */
export function NewTaskDialog({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [searchParams, setSearchParams] = useSearchParams();
  const isList = searchParams.get('new') === 'many';
  const toggle = () =>
    setSearchParams((params) => {
      params.set('new', isList ? 'one' : 'many');
      return params;
    });
  return (
    <FormDialog title={isList ? 'New tasks' : 'New task'} onClose={onClose} width="xlarge">
      <div className="stack">
        <div>
          <Button variant="link" onClick={toggle}>
            {isList ? 'Create a single task instead' : 'Paste a list of titles instead'}
          </Button>
        </div>
        <NewTaskForm key={String(isList)} projectId={projectId} isList={isList} onClose={onClose} />
      </div>
    </FormDialog>
  );
}
