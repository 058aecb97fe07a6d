import { Button } from '@primer/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, type UIEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'react-router';
import { RowView } from './row-view.tsx';
import type { Row } from './timeline.ts';

/** Estimated heights of rows that were not rendered yet. */
const estimatedPixels = { turn: 44, words: 60, call: 37, note: 30 };

/** The log keeps scrolling to new rows while its end is at most this many pixels away. */
const followPixels = 40;

/**
 * Shows the rows of a log in an area that scrolls. Only the visible rows are rendered, so a long log stays fast. While the
 * run is live, the end stays in sight until the person scrolls away from it.
 */
export function RowList(props: { rows: Row[]; isLive: boolean; onRewind: ((turn: number) => void) | undefined }) {
  const { rows, isLive, onRewind } = props;
  const scroller = useRef<HTMLElement>(null);
  const [open] = useState(() => new Set<string>());
  const linkedTurn = useLinkedTurn();
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => estimatedPixels[rows[i]?.kind ?? 'note'],
    getItemKey: (i) => rows[i]?.key ?? i,
    overscan: 6,
    // What is in sight stays where it is when rows above it arrive or get their real heights.
    anchorTo: 'end',
  });
  const height = virtualizer.getTotalSize();
  const { follow, onScroll } = useFollowing(scroller, { isLive, startsAtEnd: linkedTurn === undefined, rows, height });
  useJump(linkedTurn, rows, (i) => virtualizer.scrollToIndex(i, { align: 'start' }));
  return (
    <div className="run-log">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard */}
      <section ref={scroller} className="run-rows" tabIndex={0} aria-label="Log" onScroll={onScroll}>
        <ol style={{ height }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index] as Row;
            return (
              <li
                key={key}
                id={row.kind === 'turn' ? row.key : undefined}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={rows.length}
                className={row.turn === linkedTurn ? 'linked' : undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                <RowView row={row} open={open} isLive={isLive} onRewind={onRewind} />
              </li>
            );
          })}
        </ol>
      </section>
      {isLive && !virtualizer.isAtEnd(followPixels) && (
        <Button className="to-end" size="small" onClick={follow}>
          Jump to the latest
        </Button>
      )}
    </div>
  );
}

/** Keeps the end of a live log in sight while it grows, until the person scrolls away from the end. */
function useFollowing(
  scroller: RefObject<HTMLElement | null>,
  { isLive, startsAtEnd, rows, height }: { isLive: boolean; startsAtEnd: boolean; rows: Row[]; height: number },
) {
  const isFollowing = useRef(isLive && startsAtEnd);
  const follow = () => {
    isFollowing.current = true;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows, and rows that get their real heights, move the end
  useLayoutEffect(() => {
    if (isFollowing.current) follow();
  }, [rows, height]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    isFollowing.current = isLive && scrollHeight - scrollTop - clientHeight < followPixels;
  };
  return { follow, onScroll };
}

/** Returns the turn that the address names, as in `#turn-12`. */
function useLinkedTurn(): number | undefined {
  const [, turn] = /^#turn-(\d{1,9})$/.exec(useLocation().hash) ?? [];
  return turn === undefined ? undefined : Number(turn);
}

/** Scrolls once to the turn that the address names, as soon as it is loaded, and again whenever its link is followed. */
function useJump(turn: number | undefined, rows: Row[], scrollTo: (index: number) => void): void {
  const { key } = useLocation();
  const done = useRef<string>(undefined);
  useEffect(() => {
    if (turn === undefined || done.current === key) return;
    const index = rows.findIndex((row) => row.kind === 'turn' && row.turn === turn);
    if (index < 0) return;
    done.current = key;
    scrollTo(index);
  });
}
