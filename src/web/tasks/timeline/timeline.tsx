import { Button } from '@primer/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { TimelineEntry } from '../../api.ts';
import { Markdown } from '../../display/markdown.tsx';
import { runPath } from '../../display/names.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { Section } from '../../display/sections.tsx';
import { TimeAgo } from '../../display/times.tsx';
import { isMarkdown, isQuoted, timeline, timelineText } from './timeline-texts.ts';

/** Shows what happened to a task and who did it, newest first. `failure` is what the page says above about its last run. */
export function Timeline({ taskId, failure }: { taskId: string; failure: string | undefined }) {
  const query = useInfiniteQuery(timeline(taskId));
  return (
    <Section title="Timeline">
      <QueryResult query={query} rows={3}>
        {(entries) => (
          <ol className="timeline" aria-label="Timeline, newest first">
            {entries.map((entry) => (
              <Entry key={entry.id} taskId={taskId} entry={entry} failure={failure} />
            ))}
          </ol>
        )}
      </QueryResult>
      {query.hasNextPage && (
        <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show earlier
        </Button>
      )}
    </Section>
  );
}

function Entry(props: { taskId: string; entry: TimelineEntry; failure: string | undefined }) {
  const { taskId, entry, failure } = props;
  const { at, type, runId, text, url, handoff } = entry;
  const { who, what } = timelineText(entry);
  const isRun = type.startsWith('run_');
  return (
    <li>
      <p className="wrap">
        {who !== null && (
          <>
            <bdi className="strong">{who}</bdi>{' '}
          </>
        )}
        {what}
        {url !== null && (
          <>
            {' '}
            <a href={url} rel="noopener nofollow" target="_blank">
              <bdi>{text}</bdi>
            </a>
          </>
        )}{' '}
        <span className="muted">
          <TimeAgo at={at} />
          {isRun && runId !== null && (
            <>
              {' · '}
              <Link to={runPath(taskId, runId)}>View run</Link>
            </>
          )}
        </span>
      </p>
      {isQuoted(entry, failure) && <Quotation text={text} isMarkdown={isMarkdown(entry)} />}
      {handoff !== null && <Handoff handoff={handoff} />}
    </li>
  );
}

function Quotation({ text, isMarkdown }: { text: string; isMarkdown: boolean }) {
  if (isMarkdown)
    return (
      <div className="quoted">
        <Markdown text={text} />
      </div>
    );
  return (
    <p className="quoted wrap">
      <bdi>{text}</bdi>
    </p>
  );
}

/** Shows what a run left for later runs. */
function Handoff({ handoff: { summary, nextSteps } }: { handoff: NonNullable<TimelineEntry['handoff']> }) {
  return (
    <div className="quoted">
      <Markdown text={summary} />
      {nextSteps.length > 0 && (
        <ul className="bullets" aria-label="Next steps">
          {nextSteps.map((step, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: models may name a step twice
            <li key={i} className="wrap">
              {step}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
