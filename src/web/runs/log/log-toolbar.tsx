import { SearchIcon } from '@primer/octicons-react';
import { Button, FormControl, Select, TextInput } from '@primer/react';
import { type FormEvent, memo, useState } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router';
import type { Run } from '../../api.ts';
import { notify } from '../../frame/notices.tsx';
import { type Filter, filterNames } from './filter-rows.ts';
import { logText, runJson } from './log-text.ts';
import type { Row, Timeline } from './timeline.ts';

interface Given {
  run: Run;
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
export const LogToolbar = memo(function LogToolbar(props: Given) {
  const { run, timeline, filter, searchText, onSearch, keep } = props;
  const text = () => logText(keep(timeline.rows()));
  const [, setSearchParams] = useSearchParams();
  const show = (chosen: string) =>
    setSearchParams(
      (params) => {
        if (chosen === 'all') params.delete('show');
        else params.set('show', chosen);
        return params;
      },
      { replace: true },
    );
  return (
    <div className="row wrap-row bottom-aligned">
      <FormControl>
        <FormControl.Label>Show</FormControl.Label>
        <Select value={filter} onChange={({ target }) => show(target.value)}>
          {Object.entries(filterNames).map(([id, name]) => (
            <Select.Option key={id} value={id}>
              {name}
            </Select.Option>
          ))}
        </Select>
      </FormControl>
      <FormControl>
        <FormControl.Label>Search</FormControl.Label>
        <TextInput
          type="search"
          leadingVisual={SearchIcon}
          value={searchText}
          onChange={({ target }) => onSearch(target.value)}
        />
      </FormControl>
      <GoToTurn />
      <span className="grow" />
      <Button onClick={() => void copy(text())}>Copy</Button>
      <Button onClick={() => download(`${run.id}.txt`, 'text/plain', text())}>Download text</Button>
      <Button onClick={() => download(`${run.id}.json`, 'application/json', runJson(run, timeline))}>
        Download JSON
      </Button>
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
        <FormControl.Label>Go to turn</FormControl.Label>
        <TextInput
          type="number"
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
