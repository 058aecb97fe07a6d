import { schema as described } from '@octokit/graphql-schema';
import { buildSchema, type GraphQLSchema, parse, validate } from 'graphql';

let schema: GraphQLSchema | undefined;

function schemaOfGitHub(): GraphQLSchema {
  schema ??= buildSchema(described.idl, { assumeValidSDL: true });
  return schema;
}

/** Returns the names of all mutations of GitHub's public schema. */
export function mutationNames(): string[] {
  return Object.keys(schemaOfGitHub().getMutationType()?.getFields() ?? {});
}

/** Returns what GitHub's public schema says against a GraphQL document and its variables. */
export function graphqlProblems({ query, variables = {} }: { query: string; variables?: object }): string[] {
  const document = parse(query);
  const declared = document.definitions.flatMap((each) =>
    each.kind === 'OperationDefinition' ? (each.variableDefinitions ?? []) : [],
  );
  const names = declared.map(({ variable }) => variable.name.value);
  return [
    ...validate(schemaOfGitHub(), document).map(({ message }) => message),
    ...names.filter((name) => !(name in variables)).map((name) => `the variable ${name} is missing`),
    ...Object.keys(variables)
      .filter((name) => !names.includes(name))
      .map((name) => `there is no variable ${name}`),
  ];
}
