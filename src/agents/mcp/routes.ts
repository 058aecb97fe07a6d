import { z } from 'zod';
import { inProject, theProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { setMcpServers } from './operations.ts';
import { McpServer, SetMcpServers } from './schemas.ts';
import { listMcpServers } from './store.ts';

const path = '/projects/:projectId/mcp-servers';
const tag = 'agents';

export const mcpServerRoutes: Route[] = [
  route({
    operationId: 'listMcpServers',
    method: 'get',
    path,
    summary: 'List the MCP servers whose tools the agents of a project may call',
    tag,
    access: inProject('admin'),
    reply: [200, z.array(McpServer)],
    handle: (app, { projectId }) => listMcpServers(app.db.manager, projectId),
  }),
  route({
    operationId: 'setMcpServers',
    method: 'put',
    path,
    summary: 'Replace the MCP servers of a project. A header without a value keeps its previous value',
    tag,
    access: inProject('admin'),
    audit: { action: 'project.set_mcp_servers', object: theProject },
    body: SetMcpServers,
    reply: [200, z.array(McpServer)],
    handle: (app, { projectId, body }) => setMcpServers(app, projectId, body),
  }),
];
