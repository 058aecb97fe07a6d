import { Button, Label } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { formatNumber, plural } from '../display/formats.ts';
import { revealHidden } from '../display/hidden-characters.ts';
import { Section } from '../display/sections.tsx';
import { notifyError } from '../frame/notices.tsx';

interface Props {
  repositoryId: string;
  benchmark: api.Benchmark;
  isAdmin: boolean;
}

/** Lists the items of a benchmark with their texts. Admins switch them on and off. */
export function BenchmarkItems({ repositoryId, benchmark, isAdmin }: Props) {
  const client = useQueryClient();
  const switching = useMutation({
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.switchBenchmarkItem(repositoryId, id, { enabled }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['benchmark', repositoryId] }),
    onError: notifyError,
  });
  const usable = benchmark.items.filter(({ state }) => state === 'usable');
  const rejected = benchmark.items.filter(({ state }) => state === 'rejected');
  return (
    <>
      <Section title="Items">
        {usable.length === 0 ? (
          <p className="muted">
            {benchmark.status === 'harvesting' ? 'No usable change has been found yet.' : 'No change was usable.'}
          </p>
        ) : (
          <ul className="list" aria-label="Items">
            {usable.map((item) => (
              <Item
                key={item.id}
                item={item}
                onSwitch={isAdmin ? () => switching.mutate({ id: item.id, enabled: !item.enabled }) : undefined}
                isSwitching={switching.isPending && switching.variables.id === item.id}
              />
            ))}
          </ul>
        )}
      </Section>
      {rejected.length > 0 && (
        <Section title="Rejected after a try">
          <ul className="list" aria-label="Rejected after a try">
            {rejected.map(({ id, title, reason, solutionSha }) => (
              <li key={id} className="list-item">
                <bdi className="wrap grow">{revealHidden(title)}</bdi>
                <code className="muted small">{solutionSha.slice(0, 7)}</code>
                <span className="muted full-width small">{reason}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

interface ItemProps {
  item: api.BenchmarkItem;
  /** Undefined for people who may not. */
  onSwitch: (() => void) | undefined;
  isSwitching: boolean;
}

function Item({ item, onSwitch, isSwitching }: ItemProps) {
  const { title, text, removed, tests, singleTests, seconds, enabled, solutionSha } = item;
  return (
    <li className="list-item">
      <bdi className="wrap strong grow">{revealHidden(title)}</bdi>
      {!enabled && <Label>Off</Label>}
      <code className="muted small">{solutionSha.slice(0, 7)}</code>
      {onSwitch !== undefined && (
        <Button
          size="small"
          loading={isSwitching}
          onClick={onSwitch}
          aria-label={`Switch ${enabled ? 'off' : 'on'}: ${revealHidden(title)}`}
        >
          {enabled ? 'Switch off' : 'Switch on'}
        </Button>
      )}
      <details className="full-width">
        <summary>
          Text, and {plural(tests.length, 'file')} of hidden tests · {formatNumber(seconds)} s
        </summary>
        <pre className="wrap">{revealHidden(text)}</pre>
        {removed.length > 0 && <Strings title="Removed from the text" strings={removed} />}
        <Strings title="Hidden tests" strings={tests} />
        {singleTests.length > 0 && <Strings title="Fail before and pass after" strings={singleTests} />}
      </details>
    </li>
  );
}

function Strings({ title, strings }: { title: string; strings: string[] }) {
  return (
    <>
      <p className="strong small">{title}</p>
      <ul className="small">
        {strings.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and one may occur twice
          <li key={at} className="wrap">
            <bdi>{revealHidden(each)}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
