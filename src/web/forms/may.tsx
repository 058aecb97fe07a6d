import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { useSearchParams } from 'react-router';
import { hasRole, type Role } from '../../domain/agent.ts';

/** The role of the signed-in person in the project of the page; undefined outside of projects, and until it is known. */
export const RoleInProject = createContext<Role | undefined>(undefined);

/**
 * Returns whether to offer what takes a role. While the role is not known, what members do is offered, because most people are
 * members; the service decides in any case.
 */
export function useMay(needed: Role): boolean {
  const role = useContext(RoleInProject);
  return role === undefined ? hasRole('member', needed) : hasRole(role, needed);
}

/** Shows what only people with a role can use, by default members. `otherwise` tells the others who can. */
export function May(props: { role?: Role; otherwise?: string; children: ReactNode }) {
  const { role = 'member', otherwise, children } = props;
  if (useMay(role)) return children;
  return otherwise === undefined ? null : <p className="muted">{otherwise}</p>;
}

/**
 * Removes `new`, which opens a dialog, from the address if the person may create nothing. Otherwise the dialog would pop up when
 * an admin gives them that right later.
 */
export function useNewParam(mayCreate: boolean): void {
  const [searchParams, setSearchParams] = useSearchParams();
  const isLeftOver = !mayCreate && searchParams.has('new');
  useEffect(() => {
    if (!isLeftOver) return;
    setSearchParams(
      (params) => {
        params.delete('new');
        return params;
      },
      { replace: true },
    );
  }, [isLeftOver, setSearchParams]);
}
