/** What the button and the menu of the views need to know. */
export interface ViewsProps {
  projectId: string;
  searchParams: URLSearchParams;
  onApply(query: string): void;
}

/** The parts of the board's address that belong to a view, in the order in which they are stored. */
const viewParams = ['search', 'agent', 'person', 'priority', 'sprint', 'state', 'sort'];

/** Returns the filters and the sorting in an address. Equal views have equal texts. */
export function viewQueryOf(params: URLSearchParams): string {
  const view = new URLSearchParams();
  for (const name of viewParams) {
    const value = params.get(name);
    if (value) view.set(name, value);
  }
  return view.toString();
}

/** Returns the parameters of a stored view. Anything else that it contains is left out. */
export const paramsOf = (query: string): URLSearchParams =>
  new URLSearchParams(viewQueryOf(new URLSearchParams(query)));
