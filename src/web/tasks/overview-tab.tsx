import {
  GitMergeIcon,
  GitPullRequestClosedIcon,
  GitPullRequestDraftIcon,
  GitPullRequestIcon,
} from '@primer/octicons-react';
import { Button, Heading } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { Shown } from '../display/query-result.tsx';
import { Section } from '../display/section.tsx';
import { When } from '../display/times.tsx';
import { AskText } from '../forms/text-dialog.tsx';
import { notifyError } from '../frame/notices.tsx';
import * as q from '../live/queries.ts';
import { TaskGraph } from './task-graph.tsx';

export function TaskOverview({ task }: { task: api.Task }) {
  return (
    <div className="stack">
      <section className="box" aria-label="Description">
        {task.description === '' ? <p className="muted">No description.</p> : <Markdown text={task.description} />}
      </section>
      <Related task={task} />
      <Pulls taskId={task.id} />
      <Handoffs taskId={task.id} />
    </div>
  );
}

function Related({ task }: { task: api.Task }) {
  const [isAdding, setAdding] = useState(false);
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: (title: string) => api.postTasksByIdSubtasks(task.id, { title: title.slice(0, 200), description: '' }),
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
            Add a subtask
          </Button>
        )}
      </div>
      <TaskGraph task={task} />
      {isAdding && (
        <AskText
          title="Add a subtask"
          label="Its title"
          isRequired
          button="Add"
          onText={(title) => add.mutate(title)}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  );
}

const icons = {
  open: GitPullRequestIcon,
  draft: GitPullRequestDraftIcon,
  merged: GitMergeIcon,
  closed: GitPullRequestClosedIcon,
};

function Pulls({ taskId }: { taskId: string }) {
  const asked = useQuery(q.pulls(taskId));
  return (
    <Section title="Pull requests">
      <Shown of={asked} rows={1}>
        {(pulls) =>
          pulls.length === 0 ? (
            <p className="muted">None yet. An agent opens one when its work is done.</p>
          ) : (
            <ul>
              {pulls.map(({ prUrl, prNumber, repositoryName, status }) => {
                const Icon = icons[status];
                return (
                  <li key={prUrl} className="row">
                    <Icon />
                    <a href={prUrl} rel="noopener nofollow" target="_blank">
                      {repositoryName} #{prNumber}
                    </a>
                    <span className="muted">{status}</span>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Shown>
    </Section>
  );
}

function Handoffs({ taskId }: { taskId: string }) {
  const asked = useQuery(q.handoffs(taskId));
  return (
    <Section title="Handoffs">
      <Shown of={asked} rows={2}>
        {({ handoffs }) =>
          handoffs.length === 0 ? (
            <p className="muted">None yet. Each run leaves one for the next.</p>
          ) : (
            <ol className="timeline">
              {handoffs.map((handoff) => (
                <li key={handoff.id}>
                  <p className="muted small">
                    <When at={handoff.createdAt} />
                  </p>
                  <Markdown text={handoff.summary} />
                  {handoff.nextSteps.length > 0 && (
                    <ul className="bullets">
                      {handoff.nextSteps.map((step) => (
                        <li key={step} className="wrap">
                          {step}
                        </li>
                      ))}
                    </ul>
                  )}
                </li>
              ))}
            </ol>
          )
        }
      </Shown>
    </Section>
  );
}
