/** Works on a list with a number of workers, in order. Returns when all is done. @throws the first error */
export async function inParallel<T>(list: T[], workers: number, work: (each: T) => Promise<void>): Promise<void> {
  const left = list.values();
  const worker = async () => {
    for (const each of left) await work(each);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
