import { LinkIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, type UIEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'react-router';
import type { RunEvent } from '../api.ts';
import { formatCost, formatNumber } from '../display/formats.ts';
import { terminalText } from '../display/hidden-characters.ts';
import { Markdown } from '../display/markdown.tsx';
import { exactTime } from '../display/names.ts';
import { useIsNarrow } from '../rows/use-is-narrow.ts';
import { CallView } from './call-view.tsx';
import { isProblem } from './filter-rows.ts';
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
  const [hadEnded] = useState(!isLive);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => estimatedPixels[rows[i]?.kind ?? 'note'],
    getItemKey: (i) => rows[i]?.key ?? i,
    overscan: 6,
    // What is in sight stays where it is when rows above it arrive or get their real heights. The top of an ended run stays
    // in sight: its notes arrive after its turns, and belong above them.
    anchorTo: hadEnded && linkedTurn === undefined ? 'start' : 'end',
  });
  const height = virtualizer.getTotalSize();
  const mayFollow = !hadEnded;
  const { follow, onScroll } = useFollowing(scroller, {
    mayFollow,
    startsAtEnd: linkedTurn === undefined,
    rows,
    height,
  });
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

/**
 * Keeps the end of a log in sight while it grows, until the person scrolls away from the end. The last rows arrive after the run has ended,
 * when the page around the log changes its size.
 */
function useFollowing(
  scroller: RefObject<HTMLElement | null>,
  { mayFollow, startsAtEnd, rows, height }: { mayFollow: boolean; startsAtEnd: boolean; rows: Row[]; height: number },
) {
  const isFollowing = useRef(mayFollow && startsAtEnd);
  const follow = () => {
    isFollowing.current = true;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows, and rows that get their real heights, move the end
  useLayoutEffect(() => {
    if (isFollowing.current) follow();
  }, [rows, height]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (isFollowing.current && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
    });
    if (scroller.current) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [scroller]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    isFollowing.current = mayFollow && scrollHeight - scrollTop - clientHeight < followPixels;
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

interface Given {
  row: Row;
  /** Keys of the expanded calls. They are kept outside the rows, because a row that scrolls out of sight is unmounted. */
  open: Set<string>;
  isLive: boolean;
  onRewind: ((turn: number) => void) | undefined;
}

/** Shows one row of the log. */
const RowView = memo(function RowView({ row, open, isLive, onRewind }: Given) {
  switch (row.kind) {
    case 'turn':
      return <TurnHead row={row} onRewind={row.stored === undefined ? undefined : onRewind} />;
    case 'words':
      return <Words text={row.text} isLive={row.isLive} />;
    case 'call':
      return <CallView call={row.call} rowKey={row.key} open={open} isLive={isLive} />;
    case 'note':
      return <Note event={row.event} />;
  }
});

/** Shared by all rows, because creating a formatter for each would take most of the time of rendering it. */
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)} className="muted small">
      {clock.format(new Date(at))}
    </time>
  );
}

function TurnHead(props: { row: Row & { kind: 'turn' }; onRewind: ((turn: number) => void) | undefined }) {
  const { row, onRewind } = props;
  const { turn, at, stored, ms } = row;
  const isNarrow = useIsNarrow();
  const { search } = useLocation();
  const tokens = stored && stored.inputTokens + stored.outputTokens;
  // A run that goes on from a turn of another one gets copies of the turns before it, which cost nothing again.
  const isCopied = tokens === 0 && ms === undefined;
  const figures = [
    ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s of thinking`,
    tokens === undefined ? '' : `${formatNumber(tokens)} tokens`,
    stored?.costUsd == null ? '' : formatCost(stored.costUsd),
  ].filter(Boolean);
  return (
    <div className="run-turn row wrap-row">
      <h3>Turn {turn}</h3>
      {at !== undefined && !isCopied && <Clock at={at} />}
      <span className="muted small">{isCopied ? 'Copied from the earlier run' : figures.join(' · ')}</span>
      <span className="grow" />
      {onRewind && (
        <Button size="small" aria-label={`Rewind to here, after turn ${turn}`} onClick={() => onRewind(turn)}>
          {isNarrow ? 'Rewind' : 'Rewind to here'}
        </Button>
      )}
      <Link to={{ search, hash: `turn-${turn}` }} aria-label={`Link to turn ${turn}`}>
        <LinkIcon />
      </Link>
    </div>
  );
}

/** Longer words are not rendered as Markdown, which would take too long. */
const maxMarkdown = 20_000;

function Words({ text, isLive }: { text: string; isLive: boolean }) {
  if (isLive || text.length > maxMarkdown)
    return (
      <p className="run-words wrap">
        <bdi>{text}</bdi>
      </p>
    );
  return (
    <div className="run-words">
      <Markdown text={text} />
    </div>
  );
}

/** The text of most entries says what kind they are. */
function kindOf({ type, text }: RunEvent) {
  return type === 'loop' || text.includes(type) ? null : <span className="kind">{type}</span>;
}

function Note({ event }: { event: RunEvent }) {
  const { at, text, data } = event;
  const seconds = typeof data.seconds === 'number' ? `${data.seconds} s` : '';
  return (
    <div className={`run-note${isProblem(event) ? ' problem' : ''}`}>
      <Clock at={at} /> {kindOf(event)} <span className="wrap mono">{terminalText(text)}</span>{' '}
      <span className="muted small">{seconds}</span>
    </div>
  );
}
