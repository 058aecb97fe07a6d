/** Returns the random end of an id, which is enough to tell the tasks of a project apart when people talk about them. */
export function shortId(id: string): string {
  return id.slice(-6);
}
