import { FilterRemoveIcon, XIcon } from '@primer/octicons-react';
import { Button, FormControl, Select, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { sentenceCase } from '../display/names.ts';
import { useSetParam } from '../frame/navigation.ts';
import * as queries from '../live/queries.ts';
import { auditFilterOf } from './record-texts.ts';
import { actionPhrases, typeNames } from './words.ts';

const names = ['person', 'action', 'object', 'from', 'to'] as const;
type Name = (typeof names)[number];

/** Returns the filters of the audit log, which the address of the page has, as the API takes them, and a function that sets one. */
export function useAuditFilters() {
  const [searchParams, setSearchParams] = useSearchParams();
  const values = Object.fromEntries(names.map((name) => [name, searchParams.get(name) ?? ''])) as Record<Name, string>;
  const set: (name: Name, value: string) => void = useSetParam({ replace: true });
  return {
    values,
    filter: auditFilterOf(values),
    set,
    clear: () => setSearchParams({}, { replace: true }),
    isFiltered: names.some((name) => values[name] !== ''),
  };
}

type Filters = ReturnType<typeof useAuditFilters>;

/** Lets people choose whose changes of what and when the page shows. */
export function AuditFilters({ projectId, filters }: { projectId: string; filters: Filters }) {
  const { values, set, clear, isFiltered } = filters;
  const { data: members = [] } = useQuery(queries.members(projectId));
  return (
    <div className="row wrap-row bottom-aligned">
      <Choice label="Person" value={values.person} onSelect={(id) => set('person', id)}>
        <Select.Option value="">Everybody</Select.Option>
        {members.map(({ userId, login }) => (
          <Select.Option key={userId} value={userId}>
            {login}
          </Select.Option>
        ))}
        <Select.Option value="system">Deckhand</Select.Option>
      </Choice>
      <Choice label="Action" value={values.action} onSelect={(action) => set('action', action)}>
        <Select.Option value="">All actions</Select.Option>
        {Object.entries(typeNames).map(([type, name]) => (
          <Select.OptGroup key={type} label={name}>
            <Select.Option value={type}>{`${name}: all actions`}</Select.Option>
            {actionsOf(type).map(([action, phrase]) => (
              <Select.Option key={action} value={action}>
                {`${sentenceCase(phrase)} …`}
              </Select.Option>
            ))}
          </Select.OptGroup>
        ))}
      </Choice>
      <DayField label="From" value={values.from} onChange={(day) => set('from', day)} />
      <DayField label="To" value={values.to} onChange={(day) => set('to', day)} />
      {isFiltered && (
        <Button leadingVisual={FilterRemoveIcon} onClick={clear}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

function actionsOf(type: string): [string, string][] {
  const all = Object.entries(actionPhrases).filter(([action]) => action.startsWith(`${type}.`));
  return all.sort(([, a], [, b]) => a.localeCompare(b));
}

function Choice(props: { label: string; value: string; onSelect(value: string): void; children: ReactNode }) {
  const { label, value, onSelect, children } = props;
  return (
    <FormControl>
      <FormControl.Label>{label}</FormControl.Label>
      <Select className="audit-choice" value={value} onChange={(event) => onSelect(event.target.value)}>
        {children}
      </Select>
    </FormControl>
  );
}

function DayField({ label, value, onChange }: { label: string; value: string; onChange(day: string): void }) {
  return (
    <FormControl>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput type="date" value={value} onChange={(event) => onChange(event.target.value)} />
    </FormControl>
  );
}

/** Names the one object to which the page is limited, with a button that shows all again. */
export function ObjectFilter({ name, filters }: { name: ReactNode; filters: Filters }) {
  if (filters.values.object === '') return null;
  return (
    <p className="row wrap-row">
      <span>Only changes of {name}</span>
      <Button size="small" leadingVisual={XIcon} onClick={() => filters.set('object', '')}>
        Show all objects
      </Button>
    </p>
  );
}
