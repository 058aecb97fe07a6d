import { Button, Heading } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { TextDialog } from '../forms/text-dialog.tsx';
import { notifyError } from '../frame/notices.tsx';
import { IssueText } from './issue-text.tsx';
import { isMergeable } from './merging/is-mergeable.ts';
import { Proof } from './merging/proof.tsx';
import { PullRequests } from './merging/pull-requests.tsx';
import { TaskGraph } from './task-graph.tsx';
import { Timeline } from './timeline/timeline.tsx';

export function OverviewTab({ task }: { task: api.Task }) {
  return (
    <div className="stack">
      <section className="box" aria-label="Description">
        {task.description === '' ? (
          <p className="muted">No description provided.</p>
        ) : (
          <Markdown text={task.description} />
        )}
      </section>
      {task.issueText !== undefined && <IssueText task={task} text={task.issueText} />}
      <RelatedTasks task={task} />
      {/* In review, the box beside the Merge button shows them. */}
      {!isMergeable(task) && <PullRequests task={task} />}
      {hasChange(task) && !isMergeable(task) && <Proof taskId={task.id} />}
      <Timeline taskId={task.id} />
    </div>
  );
}

function RelatedTasks({ task }: { task: api.Task }) {
  const [isAdding, setAdding] = useState(false);
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: (title: string) => api.createSubtask(task.id, { title: title.slice(0, 200), description: '' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['subtasks', task.id] }),
    onError: notifyError,
  });
  return (
    <section className="box" aria-label="Subtasks and dependencies">
      <div className="row">
        <Heading as="h2" variant="small">
          Subtasks and dependencies
        </Heading>
        <span className="grow" />
        {task.parentId === null && (
          <Button size="small" onClick={() => setAdding(true)}>
            Add subtask
          </Button>
        )}
      </div>
      <TaskGraph task={task} />
      {isAdding && (
        <TextDialog
          title="Add subtask"
          label="Title"
          isRequired
          onSubmit={(title) => add.mutateAsync(title)}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  );
}

/** Returns whether an agent has finished a change of the task. Before that, there is no proof to ask for. */
function hasChange({ branchName, attention }: api.Task): boolean {
  return branchName !== null || attention?.reason === 'push';
}
