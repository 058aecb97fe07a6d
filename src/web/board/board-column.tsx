import { FoldIcon } from '@primer/octicons-react';
import { CounterLabel, Heading } from '@primer/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { useLocation } from 'react-router';
import type { Board, TaskCard as Card, Session } from '../api.ts';
import { taskStatusNames } from '../display/names.ts';
import type { Selection } from './bulk/selection.ts';
import { useDropTarget } from './drag-and-drop.ts';
import { TaskCard } from './task-card.tsx';

/** The height of a card whose title and facts fit on one line each. */
const estimatedPixels = 88;

interface ColumnProps {
  status: Card['status'];
  tasks: Card[];
  isFolded: boolean;
  agentNames: Map<string, string>;
  people: Map<string, Board['people'][number]>;
  sprintNames: Map<string, string>;
  /** What running runs do now, by their ids. */
  activities: ReadonlyMap<string, Session['activity']>;
  selection: Selection;
  onDrop(taskId: string, status: Card['status']): void;
  onFold(): void;
}

/** Shows a column of the board. A folded one is a narrow strip with its name, which opens while a card is above it. */
export function BoardColumn(props: ColumnProps) {
  const { status, tasks, isFolded, onDrop, onFold } = props;
  const section = useRef<HTMLElement>(null);
  const isDraggedOver = useDropTarget(section, (taskId) => onDrop(taskId, status));
  const name = taskStatusNames[status];
  const isStrip = isFolded && !isDraggedOver;
  // The button that folds a column and the one that unfolds it replace each other.
  const wasPressed = useRef(false);
  const fold = () => {
    wasPressed.current = true;
    onFold();
  };
  useLayoutEffect(() => {
    if (wasPressed.current)
      section.current?.querySelector<HTMLElement>(isStrip ? '.unfold' : '.icon-button')?.focus({ preventScroll: true });
    wasPressed.current = false;
  }, [isStrip]);
  return (
    <section
      ref={section}
      className={`column${isDraggedOver ? ' over' : ''}${isStrip ? ' folded' : ''}`}
      aria-label={name}
      data-status={status}
    >
      <Heading as="h2" variant="small" className="column-name">
        {isStrip ? (
          <button type="button" className="unfold" aria-label={`Unfold ${name}, ${tasks.length}`} onClick={fold}>
            {name} <CounterLabel>{tasks.length}</CounterLabel>
          </button>
        ) : (
          <>
            {name} <CounterLabel>{tasks.length}</CounterLabel>
            <span className="grow" />
            <button type="button" className="icon-button" aria-label={`Fold ${name}`} onClick={fold}>
              <FoldIcon className="sideways" />
            </button>
          </>
        )}
      </Heading>
      {!isStrip && <Cards {...props} />}
    </section>
  );
}

/** Shows the cards of a column. Only the visible ones are rendered, so thousands of tasks stay fast. */
function Cards({ status, tasks, agentNames, people, sprintNames, activities, selection }: ColumnProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const initialOffset = useScrollMemory(scroller, status);
  const virtualizer = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedPixels,
    getItemKey: (i) => tasks[i]?.id ?? i,
    initialOffset,
    overscan: 4,
  });
  return (
    <div ref={scroller} className="column-cards" tabIndex={tasks.length > 0 ? -1 : undefined}>
      <ul style={{ height: virtualizer.getTotalSize() }} className="cards">
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const task = tasks[index] as Card;
          return (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={tasks.length}
              style={{ transform: `translateY(${start}px)` }}
            >
              <TaskCard
                task={task}
                activity={(task.run && activities.get(task.run.id)) ?? undefined}
                agentName={task.owner === null ? undefined : agentNames.get(task.owner)}
                responsible={task.responsible === null ? undefined : people.get(task.responsible)}
                sprintName={task.sprintId === null ? undefined : sprintNames.get(task.sprintId)}
                isSelected={selection.ids.has(task.id)}
                onToggle={selection.toggle}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Where columns were scrolled to, by entry of the browser's history and column. */
const offsets = new Map<string, number>();
const maxOffsets = 200;

/** Remembers a scroll position. The oldest is forgotten when there are too many. */
function remember(key: string, offset: number): void {
  offsets.delete(key);
  if (offset > 0) offsets.set(key, offset);
  const [oldest] = offsets.keys();
  if (offsets.size > maxOffsets && oldest !== undefined) offsets.delete(oldest);
}

/**
 * Scrolls an element to where it was when the person left this entry of the browser's history, so that going back shows the
 * same cards. Returns that position, for lists that render only what is visible.
 */
function useScrollMemory(element: RefObject<HTMLElement | null>, name: string): number {
  const key = `${useLocation().key} ${name}`;
  const latest = useRef(key);
  latest.current = key;
  const restored = useRef(offsets.get(key) ?? 0);
  useLayoutEffect(() => {
    const scroller = element.current;
    if (scroller === null) return;
    scroller.scrollTop = restored.current;
    // The element is still in the document when this runs. Filters replace the entry, so the key may have changed.
    return () => remember(latest.current, scroller.scrollTop);
  }, [element]);
  return restored.current;
}
