import { CounterLabel, Heading } from '@primer/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import type { Task } from '../api.ts';
import { statusNames } from '../tasks/actions/task-actions.ts';
import { TaskCard } from './task-card.tsx';

const cardPixels = 84;

/** One status of the board. Only the cards in view are in the page, so two thousand of them cost no more than twenty. */
export function BoardColumn(props: {
  status: Task['status'];
  tasks: Task[];
  agentNames: Map<string, string>;
  onDropped(taskId: string, status: Task['status']): void;
}) {
  const { status, tasks, agentNames, onDropped } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const section = useRef<HTMLElement>(null);
  const [isOver, setOver] = useState(false);
  const dropped = useRef(onDropped);
  dropped.current = onDropped;
  const list = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cardPixels,
    getItemKey: (i) => tasks[i]?.id ?? i,
    overscan: 8,
  });
  useEffect(() => {
    let end: (() => void) | undefined;
    let isGone = false;
    import('@atlaskit/pragmatic-drag-and-drop/element/adapter').then(({ dropTargetForElements }) => {
      if (section.current === null || isGone) return;
      end = dropTargetForElements({
        element: section.current,
        onDragEnter: () => setOver(true),
        onDragLeave: () => setOver(false),
        onDrop: ({ source }) => {
          setOver(false);
          dropped.current(String(source.data.taskId), status);
        },
      });
    });
    return () => {
      isGone = true;
      end?.();
    };
  }, [status]);
  return (
    <section
      ref={section}
      className={`column${isOver ? ' over' : ''}`}
      aria-label={statusNames[status]}
      data-status={status}
    >
      <Heading as="h2" variant="small" className="column-name">
        {statusNames[status]} <CounterLabel>{tasks.length}</CounterLabel>
      </Heading>
      <div ref={scroller} className="column-cards" tabIndex={tasks.length > 0 ? -1 : undefined}>
        <ul style={{ height: list.getTotalSize() }} className="cards">
          {list.getVirtualItems().map(({ index, key, start }) => {
            const task = tasks[index] as Task;
            return (
              <li
                key={key}
                ref={list.measureElement}
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
