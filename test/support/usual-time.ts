/**
 * How long something usually takes, in ms of the clock: the median of five, because the machine may be busy with others
 * for one or two of them. `act` is told which of the five it is.
 */
export async function usualTime(act: (nth: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < 5; nth++) {
    const began = performance.now();
    await act(nth);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[2] ?? 0;
}
