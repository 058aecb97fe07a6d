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

/** Lets people choose how many days the page shows. */
export function PeriodSelect() {
  const [, setSearchParams] = useSearchParams();
  return (
    <Select
      aria-label="Period"
      value={String(usePeriod())}
      onChange={({ target: { value } }) => setSearchParams(value === usualPeriod ? {} : { days: value })}
    >
      {periods.map((each) => (
        <Select.Option key={each} value={each}>
          Last {each} days
        </Select.Option>
      ))}
    </Select>
  );
}
