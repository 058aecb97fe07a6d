import { FoldIcon } from '@primer/octicons-react';
import { CounterLabel, Heading } from '@primer/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { TaskCard as Card } from '../api.ts';
import { taskStatusNames } from '../display/names.ts';
import { TaskCard } from './card/task-card.tsx';
import { useDropTarget } from './drag-and-drop.ts';
import { useScrollMemory } from './scroll-memory.ts';
import type { Selection } from './selection.ts';

/** The height of a card whose title and facts fit on one line each. */
const estimatedPixels = 88;

interface ColumnProps {
  status: Card['status'];
  tasks: Card[];
  isFolded: boolean;
  agentNames: Map<string, string>;
  sprintNames: Map<string, string>;
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
  return (
    <section
      ref={section}
      className={`column${isDraggedOver ? ' over' : ''}${isStrip ? ' folded' : ''}`}
      aria-label={name}
      data-status={status}
    >
      <Heading as="h2" variant="small" className="column-name">
        {isStrip ? (
          <button type="button" className="unfold" aria-label={`Unfold ${name}, ${tasks.length}`} onClick={onFold}>
            {name} <CounterLabel>{tasks.length}</CounterLabel>
          </button>
        ) : (
          <>
            {name} <CounterLabel>{tasks.length}</CounterLabel>
            <span className="grow" />
            <button type="button" className="icon-button" aria-label={`Fold ${name}`} onClick={onFold}>
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
function Cards({ status, tasks, agentNames, sprintNames, selection }: ColumnProps) {
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
                agentName={task.owner === null ? undefined : agentNames.get(task.owner)}
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
