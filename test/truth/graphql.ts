import { schema as described } from '@octokit/graphql-schema';
import { buildSchema, type GraphQLSchema, parse, validate } from 'graphql';

let schema: GraphQLSchema | undefined;

/** Returns what GitHub's public schema says against a GraphQL document and its variables. */
export function graphqlProblems({ query, variables = {} }: { query: string; variables?: object }): string[] {
  schema ??= buildSchema(described.idl, { assumeValidSDL: true });
  const document = parse(query);
  const declared = document.definitions.flatMap((each) =>
    each.kind === 'OperationDefinition' ? (each.variableDefinitions ?? []) : [],
  );
  const names = declared.map(({ variable }) => variable.name.value);
  return [
    ...validate(schema, document).map(({ message }) => message),
    ...names.filter((name) => !(name in variables)).map((name) => `the variable ${name} is missing`),
    ...Object.keys(variables)
      .filter((name) => !names.includes(name))
      .map((name) => `there is no variable ${name}`),
  ];
}
