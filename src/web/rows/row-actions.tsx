import { KebabHorizontalIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, Button, IconButton } from '@primer/react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useIsNarrow } from './use-is-narrow.ts';

/** Something that can be done with a row: it either leads to a page or does something. */
export interface RowAction {
  name: string;
  /** What screen readers read instead of the name on a button, which stands without the name of its row. */
  label?: string;
  isDanger?: boolean;
  isBusy?: boolean;
  isDisabled?: boolean;
  /** Whether it shows something below the row; undefined if it shows nothing there. */
  isExpanded?: boolean;
  to?: string;
  onSelect?(): void;
}

interface Props {
  /** The name of the row, for screen readers. */
  of: string;
  actions: RowAction[];
  size?: 'small' | 'medium';
}

/** Shows what can be done with a row as buttons. On a phone, several are in one menu, because they would not fit. */
export function RowActions({ of, actions, size = 'small' }: Props) {
  const isNarrow = useIsNarrow();
  if (actions.length === 0) return null;
  if (isNarrow && actions.length > 1) return <RowMenu of={of} actions={actions} />;
  return (
    <div className="row-actions">
      {actions.map((action) => (
        <RowButton key={action.name} action={action} size={size} />
      ))}
    </div>
  );
}

function RowButton({ action, size }: { action: RowAction; size: 'small' | 'medium' }) {
  const { name, label, isDanger, isBusy = false, isDisabled = false, isExpanded, to, onSelect } = action;
  if (to !== undefined)
    return (
      <Button as={Link} size={size} to={to} aria-label={label}>
        {name}
      </Button>
    );
  return (
    <Button
      size={size}
      variant={isDanger ? 'danger' : 'default'}
      aria-label={label}
      aria-expanded={isExpanded}
      loading={isBusy}
      disabled={isDisabled}
      onClick={onSelect}
    >
      {name}
    </Button>
  );
}

function RowMenu({ of, actions }: { of: string; actions: RowAction[] }) {
  const isBusy = actions.some((action) => action.isBusy);
  return (
    <div className="row-actions">
      <ActionMenu>
        <ActionMenu.Anchor>
          <IconButton
            icon={KebabHorizontalIcon}
            variant="invisible"
            aria-label={`Actions for ${of.slice(0, 60)}`}
            tooltipDirection="n"
            loading={isBusy}
          />
        </ActionMenu.Anchor>
        <ActionMenu.Overlay align="end">
          <ActionList>
            {actions.map(({ name, isDanger, isDisabled = false, to, onSelect }) =>
              to !== undefined ? (
                <ActionList.LinkItem key={name} as={Link} to={to}>
                  {name}
                </ActionList.LinkItem>
              ) : (
                <ActionList.Item
                  key={name}
                  variant={isDanger ? 'danger' : 'default'}
                  disabled={isDisabled || isBusy}
                  onSelect={() => onSelect?.()}
                >
                  {name}
                </ActionList.Item>
              ),
            )}
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
    </div>
  );
}

/** The first line of a row: what it is about takes what its actions leave, and they stay beside it. */
export function RowLine({ children, actions }: { children: ReactNode; actions: ReactNode }) {
  return (
    <div className="row-line">
      <div className="row-text">{children}</div>
      {actions}
    </div>
  );
}
