/**
 * Empties an object that was closed. Node never unloads a module, so what the variables of a test file refer to stays in
 * memory until the last file has run, and a large process takes longer to collect garbage and to start other processes.
 */
export function letGo(closed: object): void {
  for (const key of Object.keys(closed)) Reflect.deleteProperty(closed, key);
}
