/** A share of a number of runs, with the interval that contains the true rate with 95 % confidence. */
export interface Rate {
  count: number;
  of: number;
  share: number;
  low: number;
  high: number;
}

const z95 = 1.959963984540054;

/**
 * Returns a share with its Wilson score interval, which also holds for small numbers and for shares near 0 and 1
 * (Wilson, 1927; Brown, Cai and DasGupta, 2001).
 */
export function rateOf(count: number, of: number): Rate {
  if (of === 0) return { count, of, share: 0, low: 0, high: 1 };
  const share = count / of;
  const scale = 1 + z95 ** 2 / of;
  const centre = (share + z95 ** 2 / (2 * of)) / scale;
  const half = (z95 / scale) * Math.sqrt((share * (1 - share)) / of + z95 ** 2 / (4 * of ** 2));
  return { count, of, share, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

export const rateText = ({ count, of, share, low, high }: Rate) =>
  `${count} of ${of} (${percent(share)}; 95 % interval ${percent(low)} to ${percent(high)})`;
