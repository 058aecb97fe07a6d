import { Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { leastOutputTokens, mostOutputTokens, reasoningEfforts } from '../../domain/settings.ts';
import * as api from '../api.ts';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { changedFields, submitOnce, useRefusedField } from '../forms/submit.ts';
import { useFormDraft } from '../forms/use-draft.ts';
import { errorMessage, fieldError, statusOf } from '../live/errors.ts';
import * as agentQueries from '../live/queries/agents.ts';
import { refetchAgents } from '../live/refetch-changes.ts';
import { effortName } from './agent-texts.ts';

type Fields = Pick<
  api.Agent,
  'name' | 'team' | 'description' | 'model' | 'reasoningEffort' | 'maxOutputTokens' | 'systemPrompt'
>;

const emptyFields: Fields = {
  name: '',
  team: '',
  description: '',
  model: '',
  reasoningEffort: null,
  maxOutputTokens: null,
  systemPrompt: '',
};

/** The service allows it where the other agent belongs to somebody else, or is built in. */
const takenText = 'Another agent has this name. Choose a different one, because lists show nothing but the name.';

interface Props {
  /** The agent to edit; undefined to create one. */
  agent?: api.Agent;
  onClose(): void;
}

export function AgentFormDialog(props: Props) {
  const { agent, onClose } = props;
  const { fields, set, clear, save } = useAgentForm(props);
  const { data: agents = [] } = useQuery(agentQueries.allAgents());
  const name = fields.name.trim().toLowerCase();
  const isOther = (each: Pick<api.Agent, 'id' | 'name'>) => each.id !== agent?.id && each.name.toLowerCase() === name;
  const isTaken = name !== agent?.name.toLowerCase() && agents.some(isOther);
  // A conflict may be about something else, such as a version that is not the newest.
  const isNameRefused = isTaken && statusOf(save.error) === 409;
  const refusal = isNameRefused ? errorMessage(save.error) : fieldError(save.error, 'name', 'Name');
  const problem = refusal ?? (isTaken ? takenText : undefined);
  const form = useRefusedField(refusal);
  const onCancel = () => {
    clear();
    onClose();
  };
  return (
    <FormDialog title={agent === undefined ? 'New agent' : 'Edit agent'} onClose={onClose} width="large">
      <form className="stack" ref={form} onSubmit={submitOnce(save)}>
        {save.error && refusal === undefined && <Flash variant="danger">{errorMessage(save.error)}</Flash>}
        <p className="muted">
          {agent === undefined
            ? 'Only you can change this agent. All of your projects can use it.'
            : 'Changes apply from the next run. To compare a new prompt with the current one, create a new version instead.'}
        </p>
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput
            block
            maxLength={200}
            value={fields.name}
            {...(problem === undefined ? {} : { 'data-problem': problem, validationStatus: 'error' as const })}
            onChange={(event) => {
              set({ name: event.target.value });
              save.reset();
            }}
          />
          {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
        </FormControl>
        <Details fields={fields} set={set} agent={agent} />
        <FormButtons
          submit={agent === undefined ? 'Create agent' : 'Save changes'}
          isBusy={save.isPending}
          onCancel={onCancel}
        />
      </form>
    </FormDialog>
  );
}

function useAgentForm({ agent, onClose }: Props) {
  const client = useQueryClient();
  const { name, team, description, model, reasoningEffort, maxOutputTokens, systemPrompt } = agent ?? emptyFields;
  // Only differences from the agent as it was when the dialog opened are sent, so that later changes by others are not
  // overwritten.
  const { initial, fields, set, clear } = useFormDraft<Fields>(
    agent === undefined ? 'new agent' : `edit agent ${agent.id}`,
    { name, team, description, model, reasoningEffort, maxOutputTokens, systemPrompt },
    ['reasoningEffort', 'maxOutputTokens'],
  );
  const save = useMutation({
    mutationFn: () =>
      agent === undefined
        ? api.createAgent({ ...fields, name: fields.name.trim() })
        : api.updateAgent(agent.id, changedFields(initial, fields)),
    onSuccess: async () => {
      clear();
      await refetchAgents(client);
      onClose();
    },
  });
  return { fields, set, clear, save };
}

function Details(props: { fields: Fields; set(change: Partial<Fields>): void; agent: api.Agent | undefined }) {
  const { fields, set, agent } = props;
  const { data: names = [] } = useQuery(agentQueries.modelNames(agent?.projectId ?? undefined));
  return (
    <>
      <div className="fields">
        <FormControl>
          <FormControl.Label>Team</FormControl.Label>
          <TextInput block value={fields.team} onChange={(event) => set({ team: event.target.value })} />
        </FormControl>
        <FormControl>
          <FormControl.Label>Model</FormControl.Label>
          <TextInput
            block
            list="model-names"
            autoComplete="off"
            value={fields.model}
            onChange={(event) => set({ model: event.target.value })}
          />
          <datalist id="model-names">
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <FormControl.Caption>{modelCaption(fields.model, names)}</FormControl.Caption>
        </FormControl>
      </div>
      <ModelLimits fields={fields} set={set} />
      <FormControl>
        <FormControl.Label>Description</FormControl.Label>
        <TextInput block value={fields.description} onChange={(event) => set({ description: event.target.value })} />
      </FormControl>
      <FormControl>
        <FormControl.Label>System prompt</FormControl.Label>
        <Textarea
          block
          rows={6}
          value={fields.systemPrompt}
          onChange={(event) => set({ systemPrompt: event.target.value })}
        />
      </FormControl>
    </>
  );
}

/** Says so if the model server does not list a model. It may know it all the same. */
function modelCaption(model: string, names: string[]): string {
  const isUnlisted = names.length > 0 && model !== '' && !names.includes(model) && !names.includes(`${model}:latest`);
  return isUnlisted
    ? 'The model server does not list this name. Check it before you save.'
    : 'Leave empty to use the default model of the service.';
}

/** Shows how much the model may think and write. */
function ModelLimits({ fields, set }: { fields: Fields; set(change: Partial<Fields>): void }) {
  return (
    <div className="fields">
      <SelectField
        label="Reasoning effort"
        emptyOption="Model server's default"
        value={fields.reasoningEffort ?? ''}
        options={reasoningEfforts.map((id) => ({ id, name: effortName(id) }))}
        onSelect={(id) => set({ reasoningEffort: id === '' ? null : (id as Fields['reasoningEffort']) })}
      />
      <FormControl>
        <FormControl.Label>Maximum answer length (tokens)</FormControl.Label>
        <TextInput
          block
          type="number"
          min={leastOutputTokens}
          max={mostOutputTokens}
          value={fields.maxOutputTokens ?? ''}
          onChange={({ target: { value } }) => set({ maxOutputTokens: value === '' ? null : Number(value) })}
        />
        <FormControl.Caption>Leave empty to use the model server's default.</FormControl.Caption>
      </FormControl>
    </div>
  );
}
