import { CheckCircleFillIcon, CircleIcon, DotFillIcon, SearchIcon } from '@primer/octicons-react';
import { FormControl, Heading, Select, TextInput } from '@primer/react';
import { type FormEvent, memo, useDeferredValue, useMemo, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import * as api from '../api.ts';
import { useFilters } from '../board/use-filters.ts';
import { formatDuration } from '../display/formats.ts';
import { useNow } from '../display/times.tsx';
import { useMay } from '../forms/may.tsx';
import { TextDialog } from '../forms/text-dialog.tsx';
import { useSetParam } from '../frame/navigation.ts';
import { notify } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import { RowActions } from '../rows/row-actions.tsx';
import { mayRewind } from '../tasks/actions/task-actions.ts';
import { useSteering } from '../tasks/actions/use-steering.ts';
import { type Filter, filterNames, isFilter, logText, rowFilter, runJson } from './filter-rows.ts';
import { RowList } from './row-list.tsx';
import { type Activity, activityOf, type PlanStep, type Row, type Timeline } from './timeline.ts';
import { useRunLog } from './use-run-log.ts';

/** Shows what a run did, turn by turn, and what it is doing. Needs the run's id as its key. */
export function LogView({ task, run }: { task: api.Task; run: api.Run }) {
  const { searchParams, searchText, setSearchText } = useFilters();
  const shown = searchParams.get('show');
  const filter = isFilter(shown) ? shown : 'all';
  // The filters wait for a pause in typing, so they are kept apart from what is rendered whenever the log grows.
  return <FilteredLog task={task} run={run} filter={filter} searchText={searchText} onSearch={setSearchText} />;
}

function FilteredLog(props: {
  task: api.Task;
  run: api.Run;
  filter: Filter;
  searchText: string;
  onSearch(text: string): void;
}) {
  const { task, run, filter, searchText, onSearch } = props;
  const { timeline, version, state, refusal, problem, retry } = useRunLog(run);
  const [rewindTo, setRewindTo] = useState<number>();
  const mayAct = useMay('member');
  // Searching a long log may take longer than a keystroke.
  const search = useDeferredValue(searchText);
  const keep = useMemo(() => rowFilter(filter, search), [filter, search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the timeline
  const rows = useMemo(() => keep(timeline.rows()), [keep, timeline, version]);
  const isLive = run.finishedAt === null;
  return (
    <div className="run-columns">
      <div className="run-main stack tight">
        <h2 className="sr-only">Log</h2>
        <LogToolbar
          run={run}
          timeline={timeline}
          filter={filter}
          searchText={searchText}
          onSearch={onSearch}
          keep={keep}
        />
        {problem !== undefined && (
          <p role="alert" className="failure box wrap">
            The turns could not be loaded: {errorMessage(problem)}{' '}
            <button type="button" className="link-button" onClick={retry}>
              Try again
            </button>
          </p>
        )}
        {rows.length === 0 ? (
          <p className="muted box">{emptyText({ isLive, isFiltered: filter !== 'all' || search !== '', state })}</p>
        ) : (
          <RowList rows={rows} isLive={isLive} onRewind={mayAct && mayRewind(task) ? setRewindTo : undefined} />
        )}
        <ActivityLine
          activity={activityOf(run, task.attention, timeline)}
          lostText={state === 'lost' ? lostText(refusal) : undefined}
        />
      </div>
      <PlanSteps steps={timeline.plan()} isLive={isLive} />
      {rewindTo !== undefined && (
        <RewindDialog task={task} runId={run.id} turn={rewindTo} onClose={() => setRewindTo(undefined)} />
      )}
    </div>
  );
}

const lostText = (refusal: string | undefined) =>
  refusal === undefined ? 'Connection lost. Reconnecting…' : `No live updates: ${refusal}`;

function emptyText(seen: { isLive: boolean; isFiltered: boolean; state: 'live' | 'ended' | 'lost' }): string {
  if (seen.isFiltered) return 'Nothing in this log matches the filter.';
  if (seen.isLive) return 'Waiting for the first entry…';
  return seen.state === 'ended' ? 'The log of this run is no longer kept.' : 'Loading the log…';
}

/** Shows the time since a point in time, every second. */
function Elapsed({ since }: { since: string }) {
  const now = useNow(1000);
  return <span className="clock">{formatDuration(since, new Date(now).toISOString())}</span>;
}

/** Says what the run is doing, and for how long. */
function ActivityLine(props: { activity: Activity | undefined; lostText: string | undefined }) {
  const { activity, lostText } = props;
  return (
    <p className="row muted run-activity">
      {/* The clock shows that the run is alive. A spinner would keep the browser drawing all the time. */}
      {activity !== undefined && lostText === undefined && <DotFillIcon className="state-doing" />}
      <span role="status">{lostText ?? activity?.text ?? 'Run ended'}</span>
      {/* Not part of the status, so that screen readers do not read every second. */}
      {activity !== undefined && lostText === undefined && <Elapsed since={activity.since} />}
    </p>
  );
}

const icons = {
  todo: <CircleIcon aria-label="To do" />,
  doing: <DotFillIcon aria-label="In progress" className="state-doing" />,
  done: <CheckCircleFillIcon aria-label="Done" className="state-ok" />,
};

/** Shows the agent's plan as a checklist. */
const PlanSteps = memo(function PlanSteps({ steps, isLive }: { steps: PlanStep[]; isLive: boolean }) {
  if (steps.length === 0) return null;
  const done = steps.filter(({ status }) => status === 'done').length;
  return (
    <section className="box run-plan" aria-labelledby="plan-heading">
      <Heading as="h2" variant="small" id="plan-heading">
        Plan <span className="muted small">{`${done} of ${steps.length} done`}</span>
      </Heading>
      <ol className="plain-list stack tight">
        {steps.map(({ text, status }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the whole plan is replaced at once
          <li key={i} className="row top-aligned-row">
            {/* Nobody works on a step of a run that has ended. */}
            {icons[status === 'doing' && !isLive ? 'todo' : status] ?? icons.todo}
            <bdi className={status === 'doing' && isLive ? 'wrap strong' : 'wrap'}>{text}</bdi>
          </li>
        ))}
      </ol>
    </section>
  );
});

/** Asks what the agent should do differently, goes back to a turn, and opens the page of the new run. */
function RewindDialog(props: { task: api.Task; runId: string; turn: number; onClose(): void }) {
  const { task, runId, turn, onClose } = props;
  const { mutateAsync } = useSteering(task);
  const navigate = useNavigate();
  const rewind = (text: string) =>
    mutateAsync(async (id) => {
      const rewound = await api.rewindTask(id, { runId, turn, ...(text === '' ? {} : { text }) });
      const [newest] = await api.listRuns(id, { limit: 1 });
      if (newest !== undefined) await navigate(`/tasks/${id}/runs/${newest.id}`);
      return rewound;
    });
  return (
    <TextDialog
      title={`Rewind to turn ${turn}`}
      about={runId}
      hint={`A new run continues with the conversation and the files as they were after turn ${turn}. Its commit undoes all later changes on the branch, including those by people. Nothing is pushed by force.`}
      label="What should the agent do differently? (optional)"
      submit="Rewind"
      onSubmit={rewind}
      onClose={onClose}
    />
  );
}

interface Given {
  run: api.Run;
  timeline: Timeline;
  filter: Filter;
  searchText: string;
  onSearch(text: string): void;
  /** Returns the rows that the filter keeps. */
  keep(rows: Row[]): Row[];
}

/**
 * Filters the log, leads to a turn, and copies and downloads what is shown. It reads the rows when they are needed, so that
 * it is not rendered whenever the log grows.
 */
const LogToolbar = memo(function LogToolbar(props: Given) {
  const { run, timeline, filter, searchText, onSearch, keep } = props;
  const text = () => logText(keep(timeline.rows()));
  const setParam = useSetParam({ replace: true });
  const show = (chosen: string) => setParam('show', chosen === 'all' ? null : chosen);
  return (
    <div className="row wrap-row bottom-aligned">
      <FormControl>
        <FormControl.Label visuallyHidden>Show</FormControl.Label>
        <Select value={filter} onChange={({ target }) => show(target.value)}>
          {Object.entries(filterNames).map(([id, name]) => (
            <Select.Option key={id} value={id}>
              {name}
            </Select.Option>
          ))}
        </Select>
      </FormControl>
      <FormControl>
        <FormControl.Label visuallyHidden>Search</FormControl.Label>
        <TextInput
          type="search"
          placeholder="Search the log"
          leadingVisual={SearchIcon}
          value={searchText}
          onChange={({ target }) => onSearch(target.value)}
        />
      </FormControl>
      <GoToTurn />
      <span className="grow" />
      <RowActions
        of="the log"
        size="medium"
        actions={[
          { name: 'Copy', onSelect: () => void copy(text()) },
          { name: 'Download text', onSelect: () => download(`${run.id}.txt`, 'text/plain', text()) },
          {
            name: 'Download JSON',
            onSelect: () => download(`${run.id}.json`, 'application/json', runJson(run, timeline)),
          },
        ]}
      />
    </div>
  );
});

function GoToTurn() {
  const [turn, setTurn] = useState('');
  const { search } = useLocation();
  const navigate = useNavigate();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (Number(turn) >= 1) void navigate({ search, hash: `turn-${Number(turn)}` });
  };
  return (
    <form onSubmit={onSubmit}>
      <FormControl>
        <FormControl.Label visuallyHidden>Go to turn</FormControl.Label>
        <TextInput
          type="number"
          placeholder="Turn"
          min={1}
          className="turn-number"
          value={turn}
          onChange={({ target }) => setTurn(target.value)}
        />
      </FormControl>
    </form>
  );
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify('Copied the log', 'success');
  } catch {
    notify('The browser does not allow copying. Download the log instead.', 'danger');
  }
}

function download(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The browser reads the text only after the click was handled.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
