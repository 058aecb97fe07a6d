/** Axis labels and tooltips of charts in the colours of the theme. */
export const axisText = { fill: 'var(--fgColor-muted)', fontSize: 12 };

export const tooltipStyle = {
  background: 'var(--overlay-bgColor)',
  border: '1px solid var(--borderColor-default)',
  color: 'var(--fgColor-default)',
};

export const chartMargin = { left: -20, right: 8, top: 8 };
