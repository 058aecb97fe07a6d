/** Formats the time between two points in time: `3 s`, `2 min 5 s`, `1 h 4 min`. */
export function formatDuration(from: string, to: string): string {
  return formatMs(Date.parse(to) - Date.parse(from));
}

/** Formats a length of time in ms in the same way. */
export function formatMs(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
