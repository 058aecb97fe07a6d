import { LinkIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { memo } from 'react';
import { Link, useLocation } from 'react-router';
import type { RunEvent } from '../../api.ts';
import { formatCost, formatNumber } from '../../display/formats.ts';
import { terminalText } from '../../display/hidden-characters.ts';
import { Markdown } from '../../display/markdown.tsx';
import { exactTime } from '../../display/times.tsx';
import { CallView } from './call-view.tsx';
import { isProblem } from './filter-rows.ts';
import type { Row } from './timeline.ts';

interface Given {
  row: Row;
  /** Keys of the expanded calls. They are kept outside the rows, because a row that scrolls out of sight is unmounted. */
  open: Set<string>;
  isLive: boolean;
  onRewind: ((turn: number) => void) | undefined;
}

/** Shows one row of the log. */
export const RowView = memo(function RowView({ row, open, isLive, onRewind }: Given) {
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
  const { search } = useLocation();
  const figures = [
    ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s of thinking`,
    stored === undefined ? '' : `${formatNumber(stored.inputTokens + stored.outputTokens)} tokens`,
    stored?.costUsd == null ? '' : formatCost(stored.costUsd),
  ].filter(Boolean);
  return (
    <div className="run-turn row wrap-row">
      <h3>Turn {turn}</h3>
      {at !== undefined && <Clock at={at} />}
      <span className="muted small">{figures.join(' · ')}</span>
      <span className="grow" />
      {onRewind && (
        <Button size="small" onClick={() => onRewind(turn)}>
          Rewind to here
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
