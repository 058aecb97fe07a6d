import { setFlagsFromString } from 'node:v8';

/** How far the heap may grow beyond what was live at the last collection, in percent, before the next one starts. */
const growthPercent = 50;

/**
 * Limits how far the heap grows between two collections of its old generation. V8's default is up to four times the live
 * objects, and it keeps most of the pages that it frees, so the service would hold the memory of its busiest minute.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
