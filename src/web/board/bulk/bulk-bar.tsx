import { ActionList, ActionMenu, Button, Flash } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { Board, TaskCard } from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { priorityOptions, taskStatusNames } from '../../display/names.ts';
import { SelectField } from '../../forms/select-field.tsx';
import { showFollowed } from '../../frame/keep-focus.ts';
import { notify, notifyError } from '../../frame/notices.tsx';
import { ariaKeys } from '../../keys/shortcuts.ts';
import { useAgentsToChoose } from '../../projects/preselected-agent.ts';
import { isOpenSprint } from '../../sprints/is-open-sprint.ts';
import {
  type BulkAction,
  doneNames,
  lacksAgent,
  outcomeText,
  performBulk,
  type Result,
  refusalsByReason,
  withTitles,
} from './bulk-actions.ts';
import { maxSelected, type Selection } from './selection.ts';

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
      // What was refused stands below the buttons, with the reasons.
      if (refused.length === 0) notify(outcomeText(doneNames[kind], results), 'success');
      // The refused tasks stay selected, so that people can fix and retry them.
      selection.replace(refused);
    },
    onError: notifyError,
  });
  useFocusAfterwards(chosen);
  const [isAsking, setAsking] = useState(false);
  const agentless = chosen.filter(lacksAgent);
  const act = (action: BulkAction) => {
    if (bulk.isPending) return;
    const asksFirst = action.kind === 'start' && action.agentId === undefined && agentless.length > 0;
    setAsking(asksFirst);
    if (!asksFirst) bulk.mutate(action);
  };
  const isFull = shown.length > maxSelected;
  return (
    <section
      className="bulk"
      aria-label="Selected tasks"
      aria-keyshortcuts={ariaKeys('actOnSelected')}
      data-moves-focus
    >
      <div className="row wrap-row">
        <strong role="status">{plural(chosen.length, 'task')} selected</strong>
        <Actions board={board} isBusy={bulk.isPending} onSelect={act} />
        <span className="grow" />
        <Button size="small" onClick={() => selection.replace(shown.map(({ id }) => id))}>
          {isFull ? `Select the first ${maxSelected}` : `Select all ${shown.length}`}
        </Button>
        <Button size="small" onClick={() => selection.replace([])}>
          Clear selection
        </Button>
      </div>
      {isAsking && agentless.length > 0 && (
        <AgentQuestion
          count={agentless.length}
          projectId={agentless[0]?.projectId ?? ''}
          onAnswer={(agentId) => act({ kind: 'start', agentId })}
          onCancel={() => setAsking(false)}
        />
      )}
      {bulk.data && <Refusals results={bulk.data} done={doneNames[bulk.variables.kind]} all={board.tasks} />}
    </section>
  );
}

/** Asks who does the selected tasks that have no agent, because they cannot start without one. */
function AgentQuestion(props: { count: number; projectId: string; onAnswer(agentId: string): void; onCancel(): void }) {
  const { count, projectId, onAnswer, onCancel } = props;
  const { agents, preselected } = useAgentsToChoose(projectId);
  const form = useRef<HTMLFormElement>(null);
  // It appears below the buttons, where nobody looks for it.
  useEffect(() => void form.current?.querySelector('select')?.focus(), []);
  const [chosen, setChosen] = useState<string>();
  const agentId = chosen ?? preselected;
  const label = `${plural(count, 'selected task')} ${count === 1 ? 'has' : 'have'} no agent. Who should do ${count === 1 ? 'it' : 'them'}?`;
  return (
    <form
      ref={form}
      className="row wrap-row bottom-aligned"
      onSubmit={(event) => {
        event.preventDefault();
        if (agentId !== '') onAnswer(agentId);
      }}
    >
      <SelectField label={label} emptyOption={undefined} value={agentId} options={agents} onSelect={setChosen} />
      <Button size="small" type="submit" variant="primary" disabled={agentId === ''}>
        Assign and start
      </Button>
      <Button size="small" onClick={onCancel}>
        Cancel
      </Button>
    </form>
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
        onSelect={(agentId) => onSelect({ kind: 'assign', agentId })}
      />
      <Choice label="Move to" options={columns} onSelect={(status) => onSelect({ kind: 'move', status })} />
      <Choice
        label="Set priority"
        options={priorityOptions}
        onSelect={(priority) => onSelect({ kind: 'prioritize', priority })}
      />
      <Choice
        label="Add to sprint"
        options={board.sprints.filter(isOpenSprint)}
        onSelect={(sprintId) => onSelect({ kind: 'sprint', sprintId })}
      />
    </>
  );
}

/** Shows a menu. A select would perform each action that people pass with the arrow keys. */
function Choice<Id extends string>(props: {
  label: string;
  options: readonly { id: Id; name: string }[];
  onSelect(id: Id): void;
}) {
  const { label, options, onSelect } = props;
  return (
    <ActionMenu>
      <ActionMenu.Button size="small" disabled={options.length === 0}>
        {label}
      </ActionMenu.Button>
      <ActionMenu.Overlay side="outside-top" width="medium" maxHeight="medium" overflow="auto">
        <ActionList>
          {options.map(({ id, name }) => (
            <ActionList.Item key={id} onSelect={() => onSelect(id)}>
              <bdi>{name}</bdi>
            </ActionList.Item>
          ))}
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

/**
 * Gives the focus to a card that was selected when the bar disappears with the button that had it. Otherwise people who use
 * the keyboard would have to start at the top of the page.
 */
function useFocusAfterwards(chosen: TaskCard[]) {
  const last = useRef<string>(undefined);
  last.current = chosen[0]?.id ?? last.current;
  useEffect(() => () => focusCard(last.current), []);
}

/**
 * Focuses a card unless something else has the focus. A card that moves to another column leaves the page with the focus, and
 * comes back some frames later.
 */
function focusCard(id: string | undefined, frames = 60): void {
  const card = document.querySelector<HTMLElement>(`[data-card="${id}"]`);
  const focused = document.activeElement;
  if (focused !== document.body && focused !== card) return;
  card?.focus({ preventScroll: true });
  if (card !== null && card !== focused) showFollowed(card);
  if (frames > 0) requestAnimationFrame(() => focusCard(id, frames - 1));
}

function Refusals({ results, done, all }: { results: Result[]; done: string; all: TaskCard[] }) {
  const refusals = refusalsByReason(results);
  if (refusals.length === 0) return null;
  return (
    <Flash variant="warning" role="status">
      <strong>{outcomeText(done, results)}:</strong>
      <ul className="refusals">
        {refusals.map(({ reason, tasks }) => (
          <li key={reason}>
            {withTitles(reason, all)}{' '}
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
