export const median = (list: number[]) => percentile(list, 0.5);

export const percentile = (list: number[], p: number) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))] ?? 0;

export const say = (text: string) => process.stdout.write(`${text}\n`);
