import { Select } from '@primer/react';
import { useSearchParams } from 'react-router';

const periods = ['7', '30', '90'];
const usualPeriod = '30';

/** Returns the number of days that the address asks for. */
export function usePeriod(): number {
  const [searchParams] = useSearchParams();
  const given = searchParams.get('days') ?? usualPeriod;
  return Number(periods.includes(given) ? given : usualPeriod);
}

/** Returns a function that puts a choice into the address, and takes it out if it is the usual one. */
function useUsualParam() {
  const [, setSearchParams] = useSearchParams();
  return (name: string, value: string, usual: string) =>
    setSearchParams((params) => {
      params.delete(name);
      if (value !== usual) params.set(name, value);
      return params;
    });
}

/** Lets people choose how many days the page shows. */
export function PeriodSelect() {
  const setParam = useUsualParam();
  return (
    <Select
      aria-label="Period"
      value={String(usePeriod())}
      onChange={({ target: { value } }) => setParam('days', value, usualPeriod)}
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

/** Returns what the address asks to group by, and its name. */
export function useGrouping(): { by: Grouping; name: string } {
  const [searchParams] = useSearchParams();
  const given = searchParams.get('by') ?? usualGrouping;
  const by = isGrouping(given) ? given : usualGrouping;
  return { by, name: groupings[by] };
}

/** Lets people choose what the table groups by. */
export function GroupingSelect() {
  const setParam = useUsualParam();
  return (
    <Select
      aria-label="Group by"
      value={useGrouping().by}
      onChange={({ target: { value } }) => setParam('by', value, usualGrouping)}
    >
      {Object.entries(groupings).map(([by, name]) => (
        <Select.Option key={by} value={by}>
          By {name.toLowerCase()}
        </Select.Option>
      ))}
    </Select>
  );
}
