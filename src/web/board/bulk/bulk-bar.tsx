import { Button, Flash, Select } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Board, TaskCard } from '../../api.ts';
import { taskStatusNames } from '../../display/names.ts';
import { plural } from '../../display/plural.ts';
import { notify, notifyError } from '../../frame/notices.tsx';
import { isOpenSprint } from '../../sprints/is-open-sprint.ts';
import { maxSelected, type Selection } from '../selection.ts';
import { type BulkAction, doneNames, performBulk } from './bulk-actions.ts';
import { outcomeText, type Result, refusalsByReason } from './outcome.ts';

interface Props {
  board: Board;
  /** The tasks that the filters leave, from which all can be selected. */
  shown: TaskCard[];
  selection: Selection;
}

/** Shows what can be done with the selected tasks, and afterwards which of them the service refused. */
export function BulkBar({ board, shown, selection }: Props) {
  const client = useQueryClient();
  const chosen = board.tasks.filter(({ id }) => selection.ids.has(id));
  const bulk = useMutation({
    mutationFn: (action: BulkAction) => performBulk(client, action, chosen),
    onSuccess: (results, { kind }) => {
      const refused = results.filter(({ reason }) => reason !== undefined).map(({ id }) => id);
      notify(outcomeText(doneNames[kind], results), refused.length === 0 ? 'success' : 'default');
      // The refused tasks stay selected, so that people can fix and retry them.
      selection.replace(refused);
    },
    onError: notifyError,
  });
  const isFull = shown.length > maxSelected;
  return (
    <section className="bulk" aria-label="Selected tasks">
      <div className="row wrap-row">
        <strong role="status">{plural(chosen.length, 'task')} selected</strong>
        <Actions board={board} isBusy={bulk.isPending} onSelect={bulk.mutate} />
        <span className="grow" />
        <Button size="small" onClick={() => selection.replace(shown.map(({ id }) => id))}>
          {isFull ? `Select the first ${maxSelected}` : `Select all ${shown.length}`}
        </Button>
        <Button size="small" onClick={() => selection.replace([])}>
          Clear selection
        </Button>
      </div>
      {bulk.data && <Refusals results={bulk.data} done={doneNames[bulk.variables.kind]} />}
    </section>
  );
}

const targets = ['backlog', 'ready', 'done'] as const;

function Actions(props: { board: Board; isBusy: boolean; onSelect(action: BulkAction): void }) {
  const { board, isBusy, onSelect } = props;
  const columns = targets.map((status) => ({ id: status, name: taskStatusNames[status] }));
  return (
    <>
      <Button size="small" variant="primary" loading={isBusy} onClick={() => onSelect({ kind: 'start' })}>
        Start
      </Button>
      <Choice
        label="Assign agent"
        options={board.agents}
        isBusy={isBusy}
        onSelect={(agentId) => onSelect({ kind: 'assign', agentId })}
      />
      <Choice
        label="Move to"
        options={columns}
        isBusy={isBusy}
        onSelect={(status) => onSelect({ kind: 'move', status })}
      />
      <Choice
        label="Add to sprint"
        options={board.sprints.filter(isOpenSprint)}
        isBusy={isBusy}
        onSelect={(sprintId) => onSelect({ kind: 'sprint', sprintId })}
      />
    </>
  );
}

/** Shows a select that performs the chosen action and then shows its label again. */
function Choice<Id extends string>(props: {
  label: string;
  options: readonly { id: Id; name: string }[];
  isBusy: boolean;
  onSelect(id: Id): void;
}) {
  const { label, options, isBusy, onSelect } = props;
  return (
    <Select
      size="small"
      aria-label={label}
      value=""
      disabled={isBusy || options.length === 0}
      onChange={(event) => onSelect(event.target.value as Id)}
    >
      <Select.Option value="">{label}</Select.Option>
      {options.map(({ id, name }) => (
        <Select.Option key={id} value={id}>
          {name}
        </Select.Option>
      ))}
    </Select>
  );
}

function Refusals({ results, done }: { results: Result[]; done: string }) {
  const refusals = refusalsByReason(results);
  if (refusals.length === 0) return null;
  return (
    <Flash variant="warning">
      <strong>{outcomeText(done, results)}:</strong>
      <ul className="refusals">
        {refusals.map(({ reason, tasks }) => (
          <li key={reason}>
            {reason}{' '}
            {tasks.map(({ id, title }, at) => (
              <span key={id}>
                {at > 0 && ', '}
                <Link to={`/tasks/${id}`}>
                  <bdi>{title.slice(0, 60)}</bdi>
                </Link>
              </span>
            ))}
          </li>
        ))}
      </ul>
    </Flash>
  );
}
