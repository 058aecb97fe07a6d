import type { Express, Request, RequestHandler, Response } from 'express';
import type { App } from '../../app.ts';
import { AppError, badField, unauthorized } from '../../errors.ts';
import { type Caller, findCaller } from '../access/access.ts';
import type { Authentication } from '../access/authenticate.ts';
import { assertReadsReplies, countUnsent } from '../limits/replies.ts';
import { readBody } from '../request.ts';
import type { Route } from '../route.ts';
import { dispatcher } from './dispatch.ts';
import { type OperationTool, toolsOf, usualToolsets } from './tools.ts';

interface Parts {
  app: App;
  routes: readonly Route[];
  authentication: Authentication;
  /** The whole server, which answers the requests of the calls. */
  server: Express;
  basePath: string;
}

/**
 * Returns the MCP server (streamable HTTP, without sessions): a tool for each operation. A call is a request to its operation with
 * the caller's token, so it has the same checks, limits and records. Sources: contract, section 23;
 * modelcontextprotocol.io/specification, “Transports” and “Tools”.
 */
export function mcpEndpoint({ app, routes, authentication, server, basePath }: Parts): RequestHandler {
  let sets: Map<string, OperationTool[]> | undefined;
  const dispatch = dispatcher(server, basePath);
  const authenticate = bearerOnly(app, authentication);
  return async (req, res) => {
    refuseOtherOrigins(req, app.config.BASE_URL);
    const { scope } = await authenticate(req, res);
    const userId = String(res.locals.userId);
    assertReadsReplies(userId);
    countWritten(res, countUnsent(res, userId));
    // A refusal before the body is read would reset the connection of a client that still sends.
    const body = await readBody(req, userId);
    try {
      sets ??= toolsOf(routes);
      const tools = chosenTools(sets, req.query.toolsets);
      if (Array.isArray(body.value)) throw badField('', 'Send one JSON-RPC message per request, not a list');
      // The SDK takes 0.4 s and 40 MB, so it is loaded when it is first needed.
      const { answerOverMcp } = await import('./protocol.ts');
      await answerOverMcp({ req, res, message: body.value }, { tools, scope }, (asked) =>
        dispatch(asked, req, String(res.locals.requestId)),
      );
    } finally {
      body.release();
    }
  };
}

/** Counts the bytes of a reply that the SDK has written and its client has not read. */
function countWritten(res: Response, setUnsent: (bytes: number) => void): void {
  const write = res.write.bind(res) as (...given: unknown[]) => boolean;
  res.write = (...given: unknown[]) => {
    const isDrained = write(...given);
    setUnsent(res.writableLength);
    return isDrained;
  };
  res.on('drain', () => setUnsent(0));
}

/**
 * Returns a function that checks the token of a request and returns whose it is. A refusal says where to read how the server is protected (RFC 9728,
 * section 5.1).
 */
function bearerOnly({ db, config }: App, { tokenIdOf }: Authentication) {
  return async (req: Request, res: Response): Promise<Caller> => {
    try {
      // Not the cookie of a browser: a page that people visit could use it.
      if (!/^bearer /i.test(req.headers.authorization ?? '')) throw unauthorized();
      // Not only once a call's operation checks it: a revoked token lists no tools.
      return await findCaller(db, await tokenIdOf(req, res, {} as Route));
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 401) throw error;
      const headers = { 'WWW-Authenticate': `Bearer resource_metadata="${config.BASE_URL}${metadataPath}"` };
      throw new AppError(401, error.message, { headers });
    }
  };
}

/** A page of another site must not reach a service on somebody's own machine (DNS rebinding). */
function refuseOtherOrigins(req: Request, baseUrl: string): void {
  const { origin } = req.headers;
  if (origin !== undefined && origin !== new URL(baseUrl).origin)
    throw new AppError(403, `Requests from ${origin.slice(0, 100)} are refused; BASE_URL is ${baseUrl}`);
}

function chosenTools(sets: Map<string, OperationTool[]>, asked: unknown): Map<string, OperationTool> {
  const names = asked === undefined ? usualToolsets : String(asked).split(',').filter(Boolean);
  const unknown = names.filter((name) => !sets.has(name));
  if (unknown.length > 0)
    throw badField(
      'toolsets',
      `toolsets must be of ${[...sets.keys()].join(', ')}, not ${unknown.join(', ').slice(0, 100)}`,
    );
  const chosen = names.flatMap((name) => sets.get(name) ?? []);
  return new Map(chosen.map((tool) => [tool.definition.name, tool]));
}

/** Where OAuth clients look for who protects the MCP server (RFC 9728, section 3.1). */
export const metadataPath = '/.well-known/oauth-protected-resource';

/**
 * Describes the protection of the MCP server (RFC 9728): tokens of this service as bearer tokens. There is no authorization
 * server, because people create tokens in the dashboard.
 */
export function resourceMetadata(baseUrl: string, mcpUrl: string): object {
  return {
    resource: mcpUrl,
    resource_name: 'Deckhand',
    bearer_methods_supported: ['header'],
    resource_documentation: `${baseUrl}/api/v1/docs`,
  };
}
