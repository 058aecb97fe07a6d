// The types and functions of all routes, generated from the OpenAPI document of the service.
export * from './api.ts';
export { type Service, type ServiceOptions, service } from './connection.ts';
export { DeckhandError, type FieldProblem } from './errors.ts';
export { follow, type StreamEvent, type StreamOptions } from './stream.ts';
