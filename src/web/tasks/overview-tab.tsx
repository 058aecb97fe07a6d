import {
  ArrowRightIcon,
  GitMergeIcon,
  GitPullRequestClosedIcon,
  GitPullRequestDraftIcon,
  GitPullRequestIcon,
} from '@primer/octicons-react';
import { Button, Heading } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { sentenceCase } from '../display/names.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { TaskStatus } from '../display/status-labels.tsx';
import { May } from '../forms/may.tsx';
import { notifyError } from '../frame/notices.tsx';
import { lazyPart } from '../live/load-part.ts';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';
import { isMergeable } from './actions/task-actions.ts';
import { Proof } from './merging/proof.tsx';
import { Timeline } from './timeline/timeline.tsx';

const TextDialog = lazyPart(async () => ({ default: (await import('../forms/text-dialog.tsx')).TextDialog }));

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
      <Timeline taskId={task.id} failure={task.failure?.message} />
    </div>
  );
}

function RelatedTasks({ task }: { task: api.Task }) {
  const [isAdding, setAdding] = useState(false);
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: (title: string) => api.createSubtask(task.id, { title, description: '' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['subtasks', task.id] }),
    onError: notifyError,
  });
  return (
    <section className="box stack" aria-label="Subtasks and dependencies">
      <div className="row">
        <Heading as="h2" variant="small">
          Subtasks and dependencies
        </Heading>
        <span className="grow" />
        {task.parentId === null && (
          <May>
            <Button size="small" onClick={() => setAdding(true)}>
              Add subtask
            </Button>
          </May>
        )}
      </div>
      <TaskGraph task={task} />
      <Suspense>
        {isAdding && (
          <TextDialog
            title="Add subtask"
            label="Title"
            isRequired
            onSubmit={(title) => add.mutateAsync(title)}
            onClose={() => setAdding(false)}
          />
        )}
      </Suspense>
    </section>
  );
}

/** Returns whether an agent has finished a change of the task. Before that, there is no proof to ask for. */
function hasChange({ branchName, attention }: api.Task): boolean {
  return branchName !== null || attention?.reason === 'push';
}

/** Offers the title and text of the task's issue, which differ from those of the task. */
function IssueText({ task, text }: { task: api.Task; text: NonNullable<api.Task['issueText']> }) {
  const client = useQueryClient();
  const take = useMutation({
    mutationFn: () =>
      api.updateTask(task.id, { ...text, replaces: { title: task.title, description: task.description } }),
    onSuccess: (changed) => putTask(client, changed),
    onError: notifyError,
  });
  return (
    <section className="box stack" aria-label="Text of the issue">
      <p>The title or text of the issue differs from this task.</p>
      <p className="strong wrap">{text.title}</p>
      {text.description !== '' && <Markdown text={text.description} />}
      <May>
        <div>
          <Button size="small" loading={take.isPending} onClick={() => take.mutate()}>
            Use the text of the issue
          </Button>
        </div>
      </May>
    </section>
  );
}

/** Shows from left to right: the task's dependencies, the task with its subtasks, and the tasks that depend on it. */
function TaskGraph({ task }: { task: api.Task }) {
  const related = useQuery(queries.relatedTasks(task));
  const subtasks = useQuery(queries.subtasks(task.id));
  return (
    <QueryResult query={related} rows={1}>
      {(around) => (
        <QueryResult query={subtasks} rows={1}>
          {(parts) => <Graph task={task} related={around} subtasks={parts} />}
        </QueryResult>
      )}
    </QueryResult>
  );
}

interface Around {
  task: api.Task;
  related: (Node & Pick<api.Task, 'dependsOn'>)[];
  subtasks: Node[];
}

function Graph({ task, related, subtasks }: Around) {
  const dependencies = task.dependsOn.map((id) => related.find((t) => t.id === id)).filter((t) => t !== undefined);
  const dependents = related.filter((t) => t.dependsOn.includes(task.id));
  if (dependencies.length + dependents.length + subtasks.length === 0) return <p className="muted">No dependencies</p>;
  return (
    <div className="graph">
      <Nodes label="Depends on" tasks={dependencies} />
      {dependencies.length > 0 && <ArrowRightIcon className="muted" />}
      <div>
        <Node task={task} isCurrent />
        {subtasks.length > 0 && (
          <ul className="branches" aria-label="Subtasks">
            {subtasks.map((each) => (
              <li key={each.id}>
                <Node task={each} />
              </li>
            ))}
          </ul>
        )}
      </div>
      {dependents.length > 0 && <ArrowRightIcon className="muted" />}
      <Nodes label="Required by" tasks={dependents} />
    </div>
  );
}

type Node = Pick<api.Task, 'id' | 'title' | 'status'>;

function Nodes({ label, tasks }: { label: string; tasks: Node[] }) {
  if (tasks.length === 0) return null;
  return (
    <ul aria-label={label}>
      {tasks.map((each) => (
        <li key={each.id}>
          <Node task={each} />
        </li>
      ))}
    </ul>
  );
}

function Node({ task, isCurrent = false }: { task: Node; isCurrent?: boolean }) {
  return (
    <div className={`node${isCurrent ? ' current' : ''}`}>
      {isCurrent ? (
        <span className="strong">This task</span>
      ) : (
        <Link to={`/tasks/${task.id}`}>
          <bdi>{task.title}</bdi>
        </Link>
      )}{' '}
      <TaskStatus status={task.status} />
    </div>
  );
}

const icons = {
  open: GitPullRequestIcon,
  draft: GitPullRequestDraftIcon,
  merged: GitMergeIcon,
  closed: GitPullRequestClosedIcon,
};

function PullRequests({ task }: { task: Pick<api.Task, 'id' | 'status' | 'prUrl'> }) {
  const query = useQuery(queries.pulls(task.id));
  return (
    <Section title="Pull requests">
      <QueryResult query={query} rows={1}>
        {(pulls) =>
          pulls.length === 0 && task.prUrl !== null && query.isFetching ? (
            // The list is from before the task had this pull request.
            <Loading rows={1} />
          ) : pulls.length === 0 ? (
            <p className="muted">
              {task.status === 'done'
                ? 'No pull request was opened for this task.'
                : 'No pull requests yet. The agent opens one when its work is done.'}
            </p>
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
                    <span className="muted">{sentenceCase(status)}</span>
                  </li>
                );
              })}
            </ul>
          )
        }
      </QueryResult>
    </Section>
  );
}
