import { CounterLabel, Heading } from '@primer/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { Task } from '../api.ts';
import { taskStatusNames } from '../display/names.ts';
import { useDropTarget } from './drag-and-drop.ts';
import { TaskCard } from './task-card.tsx';

/** The height of a card whose title fits on one line. */
const estimatedPixels = 84;

/** Shows a column of the board. Only the visible cards are rendered, so thousands of tasks stay fast. */
export function BoardColumn(props: {
  status: Task['status'];
  tasks: Task[];
  agentNames: Map<string, string>;
  onDrop(taskId: string, status: Task['status']): void;
}) {
  const { status, tasks, agentNames, onDrop } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const section = useRef<HTMLElement>(null);
  const isDraggedOver = useDropTarget(section, (taskId) => onDrop(taskId, status));
  const virtualizer = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedPixels,
    getItemKey: (i) => tasks[i]?.id ?? i,
    overscan: 8,
  });
  return (
    <section
      ref={section}
      className={`column${isDraggedOver ? ' over' : ''}`}
      aria-label={taskStatusNames[status]}
      data-status={status}
    >
      <Heading as="h2" variant="small" className="column-name">
        {taskStatusNames[status]} <CounterLabel>{tasks.length}</CounterLabel>
      </Heading>
      <div ref={scroller} className="column-cards" tabIndex={tasks.length > 0 ? -1 : undefined}>
        <ul style={{ height: virtualizer.getTotalSize() }} className="cards">
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const task = tasks[index] as Task;
            return (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={tasks.length}
                style={{ transform: `translateY(${start}px)` }}
              >
                <TaskCard task={task} agentName={task.owner === null ? undefined : agentNames.get(task.owner)} />
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}
