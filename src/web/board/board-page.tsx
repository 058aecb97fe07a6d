import { PlusIcon, SearchIcon } from '@primer/octicons-react';
import { Button, Select, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import type { Task } from '../api.ts';
import { Empty, Shown } from '../display/query-result.tsx';
import { notify } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-header.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { columns, moveTo } from '../tasks/actions/task-actions.ts';
import { useChosenAct } from '../tasks/actions/task-menu.tsx';
import { BoardColumn } from './board-column.tsx';

const NewTask = lazy(async () => ({ default: (await import('../tasks/new-task-dialog.tsx')).NewTask }));

const typedMs = 300;

export function BoardPage() {
  const { projectId = '' } = useParams();
  const project = useQuery(q.project(projectId));
  useTitle('Board', project.data?.name);
  const asked = useQuery(q.tasks(projectId));
  const [query, setQuery] = useSearchParams();
  const search = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query.get('search') ?? '');
  const isMaking = query.get('new') !== null;
  const set = (name: string, value: string | null) =>
    setQuery(
      (now) => {
        if (value === null || value === '') now.delete(name);
        else now.set(name, value);
        return now;
      },
      { replace: true },
    );
  // The address follows when the typing pauses: it changes too slowly to be typed into. When it changes by itself, the
  // field follows the address.
  const inAddress = query.get('search') ?? '';
  const known = useRef(inAddress);
  useEffect(() => {
    if (known.current !== inAddress) {
      known.current = inAddress;
      setText(inAddress);
      return;
    }
    const timer = setTimeout(() => {
      if (inAddress === text) return;
      known.current = text;
      set('search', text);
    }, typedMs);
    return () => clearTimeout(timer);
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isMaking) return;
      if (event.key === '/') search.current?.focus();
      else if (event.key === 'n') set('new', 'one');
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  return (
    <>
      <PageHead title="Board">
        <Filters query={query} set={set} search={search} text={text} onText={setText} />
        <Button variant="primary" leadingVisual={PlusIcon} onClick={() => set('new', 'one')} aria-keyshortcuts="n">
          New task
        </Button>
      </PageHead>
      <Shown of={asked} rows={8}>
        {(tasks) =>
          tasks.length === 0 ? <FirstTask projectId={projectId} /> : <Board tasks={tasks} query={query} text={text} />
        }
      </Shown>
      <Suspense>{isMaking && <NewTask projectId={projectId} onClose={() => set('new', null)} />}</Suspense>
    </>
  );
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function FirstTask({ projectId }: { projectId: string }) {
  const { data } = useQuery(q.repositories(projectId));
  const noRepository = data?.length === 0;
  return (
    <Empty title="No tasks yet">
      {noRepository ? (
        <p>
          First <Link to={`/projects/${projectId}/repositories`}>connect a repository</Link>; agents work in it.
        </p>
      ) : (
        <p>
          Make one with <kbd>n</kbd>, <Link to={`/projects/${projectId}/plan`}>plan a goal</Link>, or comment{' '}
          <code>/agent start</code> on a GitHub issue.
        </p>
      )}
    </Empty>
  );
}

function Filters(props: {
  query: URLSearchParams;
  set(name: string, value: string | null): void;
  search: React.RefObject<HTMLInputElement | null>;
  text: string;
  onText(text: string): void;
}) {
  const { projectId = '' } = useParams();
  const { query, set, search, text, onText } = props;
  const agents = useProjectAgents(projectId);
  const sprints = useQuery(q.sprints(projectId));
  return (
    <>
      <TextInput
        ref={search}
        leadingVisual={SearchIcon}
        aria-label="Search titles"
        aria-keyshortcuts="/"
        placeholder="Search titles ( / )"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <Filter name="agent" query={query} set={set} options={agents} all="All agents" none="No agent" />
      <Filter name="sprint" query={query} set={set} options={sprints.data ?? []} all="All sprints" none="No sprint" />
      <Filter name="state" query={query} set={set} options={[{ id: 'failed', name: 'Failed' }]} all="All states" />
    </>
  );
}

function Filter(props: {
  name: string;
  query: URLSearchParams;
  set(name: string, value: string): void;
  options: { id: string; name: string }[];
  all: string;
  none?: string;
}) {
  const { name, query, set, options, all, none } = props;
  return (
    <Select aria-label={all} value={query.get(name) ?? ''} onChange={(event) => set(name, event.target.value)}>
      <Select.Option value="">{all}</Select.Option>
      {none && <Select.Option value="none">{none}</Select.Option>}
      {options.map((option) => (
        <Select.Option key={option.id} value={option.id}>
          {option.name}
        </Select.Option>
      ))}
    </Select>
  );
}

function Board({ tasks, query, text }: { tasks: Task[]; query: URLSearchParams; text: string }) {
  const { projectId = '' } = useParams();
  const agents = useProjectAgents(projectId);
  const names = useMemo(() => new Map(agents.map(({ id, name }) => [id, name])), [agents]);
  const wanted = useDeferredValue(query.toString());
  const search = useDeferredValue(text);
  const byStatus = useMemo(() => sorted(tasks, new URLSearchParams(wanted), search), [tasks, wanted, search]);
  const { choose, dialog } = useChosenAct();
  const onDropped = (taskId: string, status: Task['status']) => {
    const task = tasks.find((t) => t.id === taskId);
    if (task === undefined || task.status === status) return;
    const move = moveTo(task, status);
    if ('refusal' in move) return notify(move.refusal);
    void choose(task, move.act);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys go from card to card, each of which is a link */}
      <div className="board" onKeyDown={walk}>
        {columns.map((status) => (
          <BoardColumn
            key={status}
            status={status}
            tasks={byStatus.get(status) ?? []}
            agentNames={names}
            onDropped={onDropped}
          />
        ))}
      </div>
      {dialog}
    </>
  );
}

function sorted(tasks: Task[], query: URLSearchParams, text: string): Map<Task['status'], Task[]> {
  const [search, agent, sprint] = [text.trim().toLowerCase(), query.get('agent'), query.get('sprint')];
  const isFailed = query.get('state') === 'failed';
  const fits = (value: string | null, asked: string | null) =>
    asked === null || (asked === 'none' ? value === null : value === asked);
  const found = new Map<Task['status'], Task[]>(columns.map((status) => [status, []]));
  for (const task of tasks) {
    const isShown =
      fits(task.owner, agent) &&
      fits(task.sprintId, sprint) &&
      (!isFailed || task.failure !== null) &&
      (search === '' || task.title.toLowerCase().includes(search));
    if (isShown) found.get(task.status)?.push(task);
  }
  return found;
}

/** Arrow keys: up and down in a column, left and right between columns. */
function walk(event: React.KeyboardEvent): void {
  const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
  const here = (event.target as HTMLElement).closest<HTMLElement>('li[data-index]');
  if (step === undefined || here === null || !(event.target as HTMLElement).dataset.card) return;
  event.preventDefault();
  const [across = 0, down = 0] = step;
  let column = here.closest('.column') as HTMLElement | null;
  let item: HTMLElement | null | undefined = here;
  if (across !== 0) {
    do column = (across < 0 ? column?.previousElementSibling : column?.nextElementSibling) as HTMLElement | null;
    while (column?.classList.contains('column') && column.querySelector('li[data-index]') === null);
    item = column?.querySelector<HTMLElement>('li[data-index]');
  } else item = column?.querySelector<HTMLElement>(`li[data-index="${Number(here.dataset.index) + down}"]`);
  const link = item?.querySelector<HTMLElement>('[data-card]');
  link?.focus();
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** The agents that work in a project: its own, and those that people made. */
function useProjectAgents(projectId: string) {
  const agents = useQuery(q.agentsOf(projectId));
  return agents.data ?? none;
}

const none: never[] = [];
