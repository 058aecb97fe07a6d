import { percent, type Rate } from './statistics.ts';

export const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const width = 720;
const rowHeight = 28;
const labelWidth = 220;
const plotWidth = width - labelWidth - 90;

/** Draws a chart; `about` describes it for people who do not see it. */
function chart(about: string, height: number, content: string[]): string {
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return `<svg role="img" aria-label="${escaped(about)}" ${size}>${content.join('')}</svg>`;
}

function label(text: string, y: number): string {
  const short = text.length > 34 ? `${text.slice(0, 33)}…` : text;
  return `<text x="${labelWidth - 8}" y="${y + 18}" text-anchor="end">${escaped(short)}</text>`;
}

/** Draws shares from 0 to 100 % as bars, each with its confidence interval as a line. */
export function rateChart(about: string, rows: { name: string; rate: Rate }[]): string {
  const x = (share: number) => (labelWidth + share * plotWidth).toFixed(1);
  const height = rows.length * rowHeight + 24;
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line class="grid" x1="${x(share)}" x2="${x(share)}" y1="0" y2="${height - 24}"/><text x="${x(share)}" y="${height - 6}" text-anchor="middle">${100 * share} %</text>`,
  );
  const bars = rows.map(({ name, rate }, i) => {
    const y = i * rowHeight;
    const middle = y + 13;
    return [
      label(name, y),
      `<rect class="bar" x="${labelWidth}" y="${y + 5}" width="${(rate.share * plotWidth).toFixed(1)}" height="16"/>`,
      `<path class="interval" d="M${x(rate.low)} ${middle}H${x(rate.high)}M${x(rate.low)} ${middle - 5}v10M${x(rate.high)} ${middle - 5}v10"/>`,
      `<text x="${width - 4}" y="${y + 18}" text-anchor="end">${percent(rate.share)}</text>`,
    ].join('');
  });
  return chart(about, height, [...grid, ...bars]);
}

/** Draws counts as bars. */
export function countChart(about: string, rows: { name: string; count: number }[]): string {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const bars = rows.map(({ name, count }, i) => {
    const y = i * rowHeight;
    const length = ((count / most) * plotWidth).toFixed(1);
    return `${label(name, y)}<rect class="bar" x="${labelWidth}" y="${y + 5}" width="${length}" height="16"/><text x="${labelWidth + Number(length) + 6}" y="${y + 18}">${count}</text>`;
  });
  return chart(about, Math.max(1, rows.length) * rowHeight, bars);
}

/** Groups values into at most ten ranges of the same width. */
export function histogram(values: number[]): { name: string; count: number }[] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0) return [];
  const step = Math.max(1, Math.ceil((high - low + 1) / 10));
  const from = Math.floor(low);
  return Array.from({ length: Math.floor((high - from) / step) + 1 }, (_, i) => {
    const first = from + i * step;
    const count = values.filter((value) => value >= first && value < first + step).length;
    return { name: step === 1 ? String(first) : `${first} to ${first + step - 1}`, count };
  });
}
