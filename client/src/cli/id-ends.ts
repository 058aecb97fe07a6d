/** Shorter ends name too many objects. */
export const shortest = 4;

/** Returns whether an id has this end. */
export const atEnd = (id: string, end: string): boolean => end.length >= shortest && id.endsWith(end.toLowerCase());
