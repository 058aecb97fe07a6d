import { Button } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { notifyError } from '../frame/notices.tsx';
import { putTask } from '../live/put-task.ts';

/** Offers the title and text of the task's issue, which differ from those of the task. */
export function IssueText({ task, text }: { task: api.Task; text: NonNullable<api.Task['issueText']> }) {
  const client = useQueryClient();
  const take = useMutation({
    mutationFn: () => api.updateTask(task.id, text),
    onSuccess: (changed) => putTask(client, changed),
    onError: notifyError,
  });
  return (
    <section className="box stack" aria-label="Text of the issue">
      <p>The title or text of the issue differs from this task.</p>
      <p className="strong wrap">{text.title}</p>
      {text.description !== '' && <Markdown text={text.description} />}
      <div>
        <Button size="small" loading={take.isPending} onClick={() => take.mutate()}>
          Use the text of the issue
        </Button>
      </div>
    </section>
  );
}
