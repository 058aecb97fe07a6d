import { Select } from '@primer/react';
import { useSearchParams } from 'react-router';
import { useSetParam } from '../frame/navigation.ts';

const periods = ['7', '30', '90'];
const usualPeriod = '30';

/** Returns the number of days that the address asks for. */
export function usePeriod(): number {
  const [searchParams] = useSearchParams();
  const given = searchParams.get('days') ?? usualPeriod;
  return Number(periods.includes(given) ? given : usualPeriod);
}

/** Lets people choose how many days the page shows. */
export function PeriodSelect() {
  const setParam = useSetParam();
  return (
    <Select
      aria-label="Period"
      value={String(usePeriod())}
      onChange={({ target: { value } }) => setParam('days', value === usualPeriod ? null : value)}
    >
      {periods.map((each) => (
        <Select.Option key={each} value={each}>
          Last {each} days
        </Select.Option>
      ))}
    </Select>
  );
}

const groupings = { agent: 'Agent', person: 'Person', model: 'Model', sprint: 'Sprint', repository: 'Repository' };
export type Grouping = keyof typeof groupings;
const usualGrouping: Grouping = 'agent';
const isGrouping = (text: string): text is Grouping => Object.hasOwn(groupings, text);

/** Returns what the figures of a page are grouped by. By days they are also those of agents. */
export const groupingName = (by: Grouping | 'day') => groupings[by === 'day' ? usualGrouping : by];

/** Returns what the address asks to group by. */
export function useGrouping(): Grouping {
  const [searchParams] = useSearchParams();
  const given = searchParams.get('by') ?? usualGrouping;
  return isGrouping(given) ? given : usualGrouping;
}

/** Lets people choose what the table groups by. */
export function GroupingSelect() {
  const setParam = useSetParam();
  return (
    <Select
      aria-label="Group by"
      value={useGrouping()}
      onChange={({ target: { value } }) => setParam('by', value === usualGrouping ? null : value)}
    >
      {Object.entries(groupings).map(([by, name]) => (
        <Select.Option key={by} value={by}>
          By {name.toLowerCase()}
        </Select.Option>
      ))}
    </Select>
  );
}
