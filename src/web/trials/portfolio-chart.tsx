import { useEffect, useRef, useState } from 'react';
import type { PortfolioEntry } from '../api.ts';
import { formatCost } from '../display/formats.ts';
import { labelOf, spreadLabels } from './trial-texts.ts';

const height = 300;
const margin = { left: 48, right: 24, top: 16, bottom: 40 };

/** Where an agent is in the picture: to the right for a higher cost of each solved item, up for more solved items. */
function pointOf(
  { costPerSolved, solved, of }: Pick<PortfolioEntry, 'costPerSolved' | 'solved' | 'of'>,
  dearest: number,
  width: number,
): { x: number; y: number } {
  const share = of === 0 ? 0 : solved / of;
  const cost = dearest === 0 ? 0 : (costPerSolved ?? 0) / dearest;
  return {
    x: margin.left + cost * (width - margin.left - margin.right),
    y: margin.top + (1 - share) * (height - margin.top - margin.bottom),
  };
}

const pointsText = ({ x, y }: { x: number; y: number }) => `${x},${y}`;

/** Returns the width of an element in pixels, so that text in a picture is as large as around it. */
function useWidth() {
  const frame = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [frame, width] as const;
}

/**
 * Shows the share of solved items against the cost of each. The efficient agents are filled and joined by a line: nothing solves
 * more for less. A table below has the same figures.
 */
export function PortfolioChart({ agents }: { agents: PortfolioEntry[] }) {
  const shown = agents.filter(({ costPerSolved }) => costPerSolved !== null);
  const dearest = Math.max(...shown.map(({ costPerSolved }) => costPerSolved ?? 0));
  const efficient = shown
    .filter(({ isEfficient }) => isEfficient)
    .sort((a, b) => (a.costPerSolved ?? 0) - (b.costPerSolved ?? 0));
  const [frame, width] = useWidth();
  const [bottom, right] = [height - margin.bottom, width - margin.right];
  const points = shown.map((each) => pointOf(each, dearest, width));
  const labelHeights = spreadLabels(
    points.map(({ y }) => y),
    bottom,
  );
  return (
    <svg
      ref={frame}
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      aria-hidden="true"
      fontSize="12"
      fill="var(--fgColor-muted)"
    >
      {[0, 0.25, 0.5, 0.75, 1].map((share) => {
        const y = margin.top + (1 - share) * (bottom - margin.top);
        return (
          <g key={share}>
            <line x1={margin.left} x2={right} y1={y} y2={y} stroke="var(--borderColor-muted)" />
            <text x={margin.left - 8} y={y + 4} textAnchor="end">
              {Math.round(share * 100)}%
            </text>
          </g>
        );
      })}
      <text x={margin.left} y={height - 8}>
        $0
      </text>
      <text x={right} y={height - 8} textAnchor="end">
        {formatCost(dearest)} per solved item
      </text>
      <polyline
        points={efficient.map((each) => pointsText(pointOf(each, dearest, width))).join(' ')}
        fill="none"
        stroke="var(--fgColor-accent)"
        strokeDasharray="4 4"
      />
      {shown.map((each, i) => {
        const { x, y } = points[i] ?? { x: 0, y: 0 };
        const isLeft = x > width / 2;
        return (
          <g key={`${each.agentId} ${each.model}`}>
            <circle
              cx={x}
              cy={y}
              r="5"
              fill={each.isEfficient ? 'var(--fgColor-accent)' : 'var(--bgColor-default)'}
              stroke="var(--fgColor-accent)"
              strokeWidth="2"
            />
            <text
              x={isLeft ? x - 10 : x + 10}
              y={(labelHeights[i] ?? y) + 4}
              textAnchor={isLeft ? 'end' : 'start'}
              fill="var(--fgColor-default)"
              stroke="var(--bgColor-default)"
              strokeWidth="4"
              paintOrder="stroke"
            >
              {labelOf(each, isLeft ? x - 10 - margin.left : width - x - 10)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
