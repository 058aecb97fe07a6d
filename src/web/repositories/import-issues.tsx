import './import-issues.css';
import { Button, Checkbox, FormControl, Label, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { submitOnce } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import { putTask } from '../live/put-task.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { useAgentsToChoose } from '../projects/preselected-agent.ts';
import { filterIssues, importedText, maxAtOnce, withAll } from './choosing.ts';

const statuses = [
  { id: 'backlog', name: 'Backlog' },
  { id: 'ready', name: 'Ready' },
];

/** Creates tasks from open issues of a repository, which people choose from a list. */
export function ImportIssues({ repository, onClose }: { repository: api.RepositoryEntry; onClose(): void }) {
  const { id, name, projectId } = repository;
  const client = useQueryClient();
  const query = useQuery(repositoryQueries.openIssues(id));
  const { agents, preselected } = useAgentsToChoose(projectId);
  const [numbers, setNumbers] = useState<number[]>([]);
  const [status, setStatus] = useState('backlog');
  const [chosenOwner, setOwner] = useState<string>();
  const [isStarted, setStarted] = useState(false);
  const owner = chosenOwner ?? preselected;
  const isToStart = isStarted && owner !== '';
  const navigate = useNavigate();
  const board = { name: 'Open the board', act: () => void navigate(`/projects/${projectId}`) };
  const run = useMutation({
    mutationFn: async () => {
      const asked = { numbers, status: status as 'backlog' | 'ready', ...(owner === '' ? {} : { owner }) };
      const result = await api.importIssues(id, asked);
      let refusal: string | undefined;
      if (isToStart)
        for (const { taskId } of result.imported)
          await api.startTask(taskId).then(
            (task) => putTask(client, task),
            (error) => {
              refusal ??= `Not all of them were started. ${errorMessage(error)}`;
            },
          );
      return { result, isStarted: isToStart && refusal === undefined, refusal };
    },
    onSuccess: ({ result, refusal, ...outcome }) => {
      notify(importedText(result, outcome.isStarted), result.imported.length === 0 ? 'default' : 'success', board);
      if (refusal !== undefined) notify(refusal, 'danger');
      void client.invalidateQueries({ queryKey: repositoryQueries.openIssues(id).queryKey });
      onClose();
    },
    onError: notifyError,
  });
  const [isAsked, setAsked] = useState(false);
  const hasIssues = query.data !== undefined && query.data.length > 0;
  const canImport = numbers.length > 0 && numbers.length <= maxAtOnce;
  return (
    <FormDialog title={`Import issues of ${name}`} width="xlarge" onClose={onClose}>
      <form
        className="stack"
        onSubmit={submitOnce(run, () => {
          setAsked(true);
          return canImport;
        })}
      >
        <QueryResult query={query}>
          {(issues) => <IssueList issues={issues} chosen={numbers} onChoose={setNumbers} />}
        </QueryResult>
        {hasIssues ? (
          <>
            <div className="fields">
              <SelectField
                label="Status"
                emptyOption={undefined}
                value={status}
                options={statuses}
                onSelect={setStatus}
              />
              <SelectField label="Agent" emptyOption="No agent" value={owner} options={agents} onSelect={setOwner} />
            </div>
            <FormControl disabled={owner === ''}>
              <Checkbox checked={isToStart} onChange={(event) => setStarted(event.target.checked)} />
              <FormControl.Label>Start the tasks at once</FormControl.Label>
            </FormControl>
            <p className="muted" role="status">
              {hintFor(numbers.length, isAsked)}
            </p>
            <FormButtons
              submit={isToStart ? 'Import and start' : 'Import issues'}
              isBusy={run.isPending}
              onCancel={onClose}
            />
          </>
        ) : (
          <div className="row end">
            <Button onClick={onClose}>Close</Button>
          </div>
        )}
      </form>
    </FormDialog>
  );
}

function hintFor(chosen: number, isAsked: boolean): string {
  if (chosen > maxAtOnce) return `Choose at most ${maxAtOnce} issues at a time.`;
  if (chosen === 0 && isAsked) return 'Choose at least one issue.';
  return `${plural(chosen, 'issue')} chosen. Each becomes a task that shows its progress in the issue.`;
}

function IssueList(props: { issues: api.OpenIssue[]; chosen: number[]; onChoose(numbers: number[]): void }) {
  const { issues, chosen, onChoose } = props;
  const [search, setSearch] = useState('');
  if (issues.length === 0) return <p className="muted">The repository has no open issues.</p>;
  const shown = filterIssues(issues, search);
  const all = withAll(chosen, shown);
  const toggle = (number: number) =>
    onChoose(chosen.includes(number) ? chosen.filter((each) => each !== number) : [...chosen, number]);
  return (
    <>
      <TextInput
        block
        aria-label="Search open issues"
        placeholder="Search by title, label or number"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <div>
        <Button size="small" disabled={all.length === chosen.length} onClick={() => onChoose(all)}>
          {search.trim() === '' ? 'Choose all' : 'Choose all that match'}
        </Button>
      </div>
      <ul className="list issues" aria-label="Open issues">
        {shown.map((issue) => (
          <IssueItem
            key={issue.number}
            issue={issue}
            isChosen={chosen.includes(issue.number)}
            onToggle={() => toggle(issue.number)}
          />
        ))}
      </ul>
      {shown.length === 0 && <p className="muted">No open issue matches.</p>}
    </>
  );
}

function IssueItem(props: { issue: api.OpenIssue; isChosen: boolean; onToggle(): void }) {
  const { issue, isChosen, onToggle } = props;
  const { number, title, url, labels, author, createdAt, taskId } = issue;
  const id = useId();
  return (
    <li className="list-item">
      <input
        id={id}
        type="checkbox"
        className="plain-check"
        aria-label={`Choose issue ${number}: ${title.slice(0, 60)}`}
        checked={isChosen}
        disabled={taskId !== null}
        onChange={onToggle}
      />
      <label htmlFor={id} className="strong wrap">
        <bdi>{title}</bdi>
      </label>
      {labels.map((label) => (
        <Label key={label} variant="secondary">
          <bdi>{label}</bdi>
        </Label>
      ))}
      <a href={url} rel="noopener nofollow" target="_blank" aria-label={`Issue ${number} on GitHub`}>
        #{number}
      </a>
      <span className="muted">
        {author !== null && <>by {author} </>}
        <TimeAgo at={createdAt} />
      </span>
      {taskId !== null && <Link to={`/tasks/${taskId}`}>Has a task</Link>}
    </li>
  );
}
