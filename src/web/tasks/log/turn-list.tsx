import { Button, Heading } from '@primer/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../../api.ts';
import { formatCost } from '../../display/cost.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { TimeAgo } from '../../display/times.tsx';
import { TextDialog } from '../../forms/text-dialog.tsx';
import * as queries from '../../live/queries.ts';
import { mayRewind } from '../actions/task-actions.ts';
import { useSteering } from '../waiting/use-steering.ts';

interface Given {
  task: api.Task;
  run: api.Run;
}

/** Shows the turns of a run that has ended, each with a button to go back to it. They are fetched when they are opened. */
export function TurnList({ task, run }: Given) {
  const [isOpen, setOpen] = useState(false);
  if (run.finishedAt === null) return null;
  return (
    <details className="box" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Heading as="h2" variant="small" className="inline">
          Turns
        </Heading>
      </summary>
      {isOpen && <Turns task={task} run={run} />}
    </details>
  );
}

function Turns({ task, run }: Given) {
  const query = useInfiniteQuery(queries.runTurns(run.id));
  const [rewindTo, setRewindTo] = useState<number>();
  const { mutateAsync, isPending } = useSteering(task);
  return (
    <div className="stack">
      <QueryResult query={query}>
        {(turns) =>
          turns.length === 0 ? (
            <p className="muted">The turns of this run are no longer kept.</p>
          ) : (
            <ul className="list" aria-label="Turns">
              {turns.map((turn) => (
                <TurnItem
                  key={turn.turn}
                  turn={turn}
                  onRewind={mayRewind(task) && !isPending ? () => setRewindTo(turn.turn) : undefined}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {query.hasNextPage && (
        <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      )}
      {rewindTo !== undefined && (
        <TextDialog
          title={`Rewind to turn ${rewindTo}`}
          about={run.id}
          label="What should the agent do differently? (optional)"
          submit="Rewind"
          onSubmit={(text) =>
            mutateAsync((id) => api.rewindTask(id, { runId: run.id, turn: rewindTo, ...(text === '' ? {} : { text }) }))
          }
          onClose={() => setRewindTo(undefined)}
        />
      )}
    </div>
  );
}

function TurnItem({ turn, onRewind }: { turn: api.RunTurn; onRewind: (() => void) | undefined }) {
  const { text, calls } = turn;
  return (
    <li className="list-item">
      <span className="strong">Turn {turn.turn}</span>
      <span className="muted">
        <TimeAgo at={turn.at} /> · {formatCost(turn.costUsd)}
      </span>
      <span className="grow" />
      {onRewind && (
        <Button size="small" onClick={onRewind}>
          Rewind to here
        </Button>
      )}
      {text.trim() !== '' && (
        <p className="wrap">
          <bdi>{text}</bdi>
        </p>
      )}
      {calls.length > 0 && <p className="wrap muted">{calls.map(callText).join(', ')}</p>}
    </li>
  );
}

/** Characters shown of the arguments of a call. */
const maxArguments = 120;

function callText({ name, arguments: given, ok }: api.RunTurn['calls'][number]): string {
  const short = given.length > maxArguments ? `${given.slice(0, maxArguments)}…` : given;
  return `${name} ${short}${ok ? '' : ' (failed)'}`;
}
