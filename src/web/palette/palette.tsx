import './palette.css';
import { PlayIcon, SearchIcon } from '@primer/octicons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { plural } from '../display/formats.ts';
import { useMay } from '../forms/may.tsx';
import { isPressed } from '../keys/shortcuts.ts';
import * as queries from '../live/queries.ts';
import { actionNames, actionsFor } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/use-confirmed-action.tsx';
import { type Item, kindNames, useItems } from './palette-items.ts';
import { remember } from './recent.ts';

/** Shows the palette with the actions on the task of the page. Their dialogs stay when the palette is closed. */
export function PaletteOfPage(props: {
  projectId: string | undefined;
  isOpen: boolean;
  showKeys(): void;
  signOut(): void;
  onClose(): void;
}) {
  const { isOpen, ...others } = props;
  const { taskId } = useParams();
  const { data: task } = useQuery(queries.taskOfPage(taskId));
  const { select, dialog } = useConfirmedAction();
  const mayAct = useMay('member');
  const actions = taskId === undefined || task === undefined || !mayAct ? [] : actionsFor(task);
  const pageItems = actions.map(
    (action): Item => ({
      id: `task action ${action}`,
      kind: 'action',
      text: `${actionNames[action]} (this task)`,
      icon: PlayIcon,
      run: () => task && void select(task, action),
    }),
  );
  return (
    <>
      {isOpen && <Palette {...others} pageItems={pageItems} />}
      {dialog}
    </>
  );
}

interface Props {
  projectId: string | undefined;
  pageItems: Item[];
  showKeys(): void;
  signOut(): void;
  onClose(): void;
}

/**
 * The command palette: a dialog with a combobox. The field keeps the focus, the arrow keys select an option, and Enter
 * opens it.
 */
function Palette(props: Props) {
  const { projectId, pageItems, showKeys, signOut, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  // Closing gives the focus back to where it was.
  const close = () => dialog.current?.close();
  const { data: me } = useQuery(queries.me());
  const [search, setSearch] = useState('');
  const { items, isSearching } = useItems({ person: me?.id ?? '', projectId, search, pageItems, showKeys, signOut });
  const select = useSelected(items, search);
  const open = useOpen(me?.id, close);
  const onKeyDown = (event: KeyboardEvent) => {
    const { selected, move } = select;
    if (isPressed('palette', event)) close();
    else if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && selected !== undefined) open(selected);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog, too
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Command palette"
      onClose={onClose}
      // A click beside the content hits the dialog itself.
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div className="palette-field">
        <SearchIcon />
        <input
          role="combobox"
          aria-label="Search tasks, projects, agents and actions"
          aria-expanded="true"
          aria-controls="palette-options"
          aria-autocomplete="list"
          aria-activedescendant={select.selected && optionId(select.selected)}
          placeholder="Search tasks, projects, agents and actions"
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id="palette-options" role="listbox" aria-label="Results">
        {items.map((item) => (
          <Option
            key={item.id}
            item={item}
            isSelected={item === select.selected}
            onHover={() => select.set(item)}
            onOpen={() => open(item)}
          />
        ))}
      </div>
      <p className="muted palette-status" role="status">
        {items.length > 0 ? <span className="sr-only">{plural(items.length, 'result')}</span> : noResult(isSearching)}
      </p>
    </dialog>
  );
}

const noResult = (isSearching: boolean) => (isSearching ? 'Searching…' : 'No results');

const optionId = ({ id }: Item) => `palette ${id}`.replace(/\W+/g, '-');

/** Keeps the selected item. A new search selects the first one. */
function useSelected(items: Item[], search: string) {
  const [chosen, setChosen] = useState<{ id: string; search: string }>();
  const at = chosen?.search === search ? items.findIndex(({ id }) => id === chosen.id) : -1;
  const selected = items[Math.max(at, 0)];
  const set = (item: Item | undefined) => setChosen(item && { id: item.id, search });
  const move = (step: 1 | -1) => set(items.at((Math.max(at, 0) + step) % Math.max(items.length, 1)));
  return { selected, set, move };
}

/** Returns a function that opens an item and closes the palette. */
function useOpen(person: string | undefined, close: () => void) {
  const navigate = useNavigate();
  return ({ id, kind, text, to, run }: Item) => {
    close();
    run?.();
    if (to === undefined) return;
    if (kind !== 'action' && person !== undefined) remember(localStorage, person, { id, kind, text, to });
    void navigate(to);
  };
}

function Option(props: { item: Item; isSelected: boolean; onHover(): void; onOpen(): void }) {
  const { item, isSelected, onHover, onOpen } = props;
  const option = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isSelected) option.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
    <div
      ref={option}
      id={optionId(item)}
      role="option"
      // The field keeps the focus and names the selected option.
      tabIndex={-1}
      aria-selected={isSelected}
      onMouseMove={isSelected ? undefined : onHover}
      onClick={onOpen}
    >
      <item.icon />
      <bdi className="grow">{item.text}</bdi>
      <span className="muted small">{kindNames[item.kind]}</span>
    </div>
  );
}
