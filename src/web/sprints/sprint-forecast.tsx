import { Button, Checkbox, CheckboxGroup, FormControl } from '@primer/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Forecast, Sprint, TaskCard } from '../api.ts';
import { plural } from '../display/formats.ts';
import { exactTime } from '../display/names.ts';
import { Loading } from '../display/query-result.tsx';
import { FactList, Section } from '../display/sections.tsx';
import { Day } from '../display/times.tsx';
import * as queries from '../live/queries.ts';
import { gain, type KnownForecast, knownForecast, verdict } from './forecast-text.ts';

/** Shows when the work of a sprint that has not ended will be done, and what would change that. */
export function SprintForecast({ sprint }: { sprint: Sprint }) {
  const { data: metrics, error } = useQuery(queries.metrics(sprint.id));
  // The progress above the forecast says why they cannot be read.
  if (metrics === undefined) return error ? null : <Loading rows={1} />;
  const known = knownForecast(metrics.forecast);
  return (
    <Section title="Forecast">
      {known === undefined ? (
        <p className="muted">No forecast yet. {metrics.forecast.reason}</p>
      ) : (
        <>
          <ForecastDates forecast={known} />
          {sprint.status === 'planning' && (
            <p className="muted">
              This assumes that the sprint begins on <Day date={startOf(sprint)} />.
            </p>
          )}
          <p>{verdict(known, sprint.endDate)}</p>
          <WhatIf sprint={sprint} forecast={known} />
        </>
      )}
    </Section>
  );
}

/** Returns when the forecast of a planned sprint lets it begin: on its first day, or now if that has passed. */
function startOf({ startDate }: Sprint): string {
  return new Date(Math.max(Date.now(), Date.parse(startDate))).toISOString();
}

/** Shows the days by which the work is done with a probability of 50, 80 and 95 percent. */
function ForecastDates({ forecast }: { forecast: KnownForecast }) {
  return (
    <FactList
      facts={{
        'Likely (50%)': <ForecastDay at={forecast.p50} />,
        'Safe (80%)': <ForecastDay at={forecast.p80} />,
        'Almost certain (95%)': <ForecastDay at={forecast.p95} />,
      }}
    />
  );
}

/** Shows a day, with the exact time on hover: a forecast is not exact to the hour. */
function ForecastDay({ at }: { at: string }) {
  return (
    <span title={exactTime(at)}>
      <Day date={at} />
    </span>
  );
}

/** The service accepts this many tasks at once. */
const mostChosen = 100;

/** Lets people choose tasks, and shows the forecast without them. Nothing is changed. */
function WhatIf({ sprint, forecast }: { sprint: Sprint; forecast: KnownForecast }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const tasks = useQuery(queries.tasks(sprint.projectId));
  // Subtasks leave a sprint with their parent.
  const open = (tasks.data ?? []).filter(
    (task) => task.sprintId === sprint.id && task.status !== 'done' && task.parentId === null,
  );
  const without = open.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const toggle = (id: string) =>
    setChosen((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  if (open.length === 0) return null;
  return (
    <details>
      <summary>What if tasks are taken out?</summary>
      <div className="stack">
        <TaskChoice open={open} chosen={chosen} isFull={without.length >= mostChosen} onToggle={toggle} />
        <div aria-live="polite">
          {without.length > 0 && <Answer sprintId={sprint.id} without={without} before={forecast} />}
        </div>
        {without.length > 0 && (
          <div className="row">
            <Button onClick={() => setChosen(new Set())}>Clear selection</Button>
          </div>
        )}
      </div>
    </details>
  );
}

function TaskChoice(props: {
  open: TaskCard[];
  chosen: ReadonlySet<string>;
  isFull: boolean;
  onToggle(id: string): void;
}) {
  const { open, chosen, isFull, onToggle } = props;
  return (
    <CheckboxGroup>
      <CheckboxGroup.Label>Tasks to take out</CheckboxGroup.Label>
      <CheckboxGroup.Caption>
        Nothing is changed: the tasks stay in the sprint until you remove them. A task that others wait for still has to
        be done.
      </CheckboxGroup.Caption>
      {open.map(({ id, title }) => (
        <FormControl key={id} disabled={isFull && !chosen.has(id)}>
          <Checkbox checked={chosen.has(id)} onChange={() => onToggle(id)} />
          <FormControl.Label className="wrap">
            <bdi>{title}</bdi>
          </FormControl.Label>
        </FormControl>
      ))}
    </CheckboxGroup>
  );
}

function Answer({ sprintId, without, before }: { sprintId: string; without: string[]; before: KnownForecast }) {
  const { data, error } = useQuery({ ...queries.metrics(sprintId, without), placeholderData: keepPreviousData });
  if (error !== null) return <p>The forecast could not be computed.</p>;
  if (data === undefined) return null;
  return <ForecastWithout count={without.length} before={before} forecast={data.forecast} />;
}

function ForecastWithout(props: { count: number; before: KnownForecast; forecast: Forecast }) {
  const { count, before, forecast } = props;
  const known = knownForecast(forecast);
  if (known === undefined) return <p>{forecast.reason}</p>;
  return (
    <>
      <p>
        Without {count === 1 ? 'this task' : `these ${plural(count, 'task')}`}, the sprint will probably be done{' '}
        <strong>{gain(before, known)}</strong>.
      </p>
      <ForecastDates forecast={known} />
    </>
  );
}
