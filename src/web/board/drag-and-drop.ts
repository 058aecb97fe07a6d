import { type RefObject, useEffect, useRef, useState } from 'react';

// Loads the library after the board has been rendered, because the board also works without dragging.
const loadLibrary = () => import('@atlaskit/pragmatic-drag-and-drop/element/adapter');
type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** Makes an element draggable as a task if it `isMovable`. Returns whether it is being dragged. */
export function useDraggable(element: RefObject<HTMLElement | null>, taskId: string, isMovable: boolean): boolean {
  const [isDragged, setDragged] = useState(false);
  useEffect(
    () =>
      isMovable
        ? whenLoaded(element, ({ draggable }, loaded) =>
            draggable({
              element: loaded,
              getInitialData: () => ({ taskId }),
              onDragStart: () => setDragged(true),
              onDrop: () => setDragged(false),
            }),
          )
        : undefined,
    [element, taskId, isMovable],
  );
  return isDragged;
}

/** Lets tasks be dropped on an element. Returns whether one is being dragged over it. */
export function useDropTarget(element: RefObject<HTMLElement | null>, onDrop: (taskId: string) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latestOnDrop = useRef(onDrop);
  latestOnDrop.current = onDrop;
  useEffect(
    () =>
      whenLoaded(element, ({ dropTargetForElements }, loaded) =>
        dropTargetForElements({
          element: loaded,
          onDragEnter: () => setOver(true),
          onDragLeave: () => setOver(false),
          onDrop: ({ source }) => {
            setOver(false);
            latestOnDrop.current(String(source.data.taskId));
          },
        }),
      ),
    [element],
  );
  return isOver;
}

/**
 * Registers an element once the library is loaded, unless the element is gone by then. Returns the effect's clean-up.
 */
function whenLoaded(
  element: RefObject<HTMLElement | null>,
  register: (library: Library, element: HTMLElement) => () => void,
): () => void {
  let unregister: (() => void) | undefined;
  let isUnmounted = false;
  void loadLibrary().then((library) => {
    if (element.current !== null && !isUnmounted) unregister = register(library, element.current);
  });
  return () => {
    isUnmounted = true;
    unregister?.();
  };
}
