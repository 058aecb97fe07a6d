import { z } from 'zod';
import { notFound } from '../errors.ts';
import {
  type Access,
  anyUser,
  type Caller,
  type InProject,
  idOrEmpty,
  inProject,
  theProject,
} from '../http/access/access.ts';
import { assertRole, assertScope } from '../http/access/scope.ts';
import { pageQuery, type Route, route } from '../http/route.ts';
import { findMember, listMembers, type MemberView } from './member-store.ts';
import {
  addMember,
  changeRole,
  createProject,
  deleteProject,
  removeMember,
  shown,
  updateProject,
} from './operations.ts';
import {
  AddMember,
  ApiToken,
  CreateProject,
  CreateToken,
  Me,
  Member,
  NewApiToken,
  Project,
  UpdateMember,
  UpdateProject,
} from './schemas.ts';
import { findToken, getProject, getUser, listProjects, listTokens, revokeToken } from './store.ts';
import { mintApiToken, projectTokenRoutes } from './tokens.ts';

const tag = 'projects';

/** Finds the member in the path below a project. `me` means the caller. */
function onMember(role: 'viewer' | 'admin'): Access<InProject & { member: MemberView }> {
  const project = inProject('viewer');
  return {
    ...project,
    role,
    load: async (app, asked) => {
      const found = await project.load(app, asked);
      const { userId = '' } = asked.params;
      const id = userId === 'me' ? found.user.id : userId;
      const member = await findMember(app.db.manager, found.projectId, id);
      if (member === undefined) throw notFound('Member', id);
      // Everyone may leave, viewers too; all else needs the admin role.
      if (role === 'admin' || id !== found.user.id) assertRole(found, 'admin');
      return { ...found, member };
    },
  };
}

const onOwnToken: Access<{ user: Caller; ownTokenId: string }> = {
  ...anyUser,
  kind: 'object',
  names: 'tokenId',
  load: async (app, asked) => {
    const { user } = await anyUser.load(app, asked);
    const ownTokenId = asked.params.tokenId ?? '';
    const token = await findToken(app.db.manager, user.id, idOrEmpty(ownTokenId));
    if (token === undefined) throw notFound('Token', ownTokenId);
    // A token rules over none that allows more than it does.
    assertScope(user, token.scopes);
    return { user, ownTokenId };
  },
};

export const projectRoutes: Route[] = [
  route({
    operationId: 'getMe',
    method: 'get',
    path: '/me',
    summary: 'Get the user that the token belongs to',
    guide: 'Read who the caller is. Use it to check the connection.',
    tag,
    access: anyUser,
    reply: [200, Me],
    handle: async (app, { user }) => ({ ...(await getUser(app.db.manager, user.id)), scopes: user.scope }),
  }),
  route({
    operationId: 'listTokens',
    method: 'get',
    path: '/me/tokens',
    summary: 'List the API tokens of the caller',
    guide: null,
    tag,
    access: anyUser,
    query: z.strictObject(pageQuery),
    reply: [200, z.array(ApiToken)],
    paged: true,
    handle: (app, { user, query }) => listTokens(app.db.manager, user.id, query),
  }),
  route({
    operationId: 'createToken',
    method: 'post',
    path: '/me/tokens',
    summary:
      'Create an API token, which allows at most what the token of the request does. Only this reply contains it',
    guide: null,
    tag,
    access: anyUser,
    audit: { action: 'token.create', made: ({ id }) => ({ id, projectId: null }) },
    body: CreateToken,
    reply: [201, NewApiToken],
    isSecret: true,
    handle: async (app, { user, body }) => {
      assertScope(user, body.scopes);
      return mintApiToken(app, user.id, body);
    },
  }),
  route({
    operationId: 'revokeToken',
    method: 'delete',
    path: '/me/tokens/:tokenId',
    summary: 'Revoke an API token with immediate effect',
    guide: null,
    tag,
    access: onOwnToken,
    audit: { action: 'token.revoke', object: ({ ownTokenId }) => ({ id: ownTokenId, projectId: null }) },
    reply: [204],
    handle: async (app, { user, ownTokenId }) => {
      // Another request may have revoked the token since the access check.
      if (!(await revokeToken(app.db.manager, user.id, ownTokenId))) throw notFound('Token', ownTokenId);
    },
  }),
  route({
    operationId: 'listProjects',
    method: 'get',
    path: '/projects',
    summary: 'List the projects of the caller',
    guide: "List the projects of the caller. Most other tools need a project's id; begin here.",
    tag,
    access: anyUser,
    query: z.strictObject(pageQuery),
    reply: [200, z.array(Project)],
    paged: true,
    handle: async (app, { user, query }) =>
      (await listProjects(app.db.manager, user.id, query)).map((project) => shown(app, project)),
  }),
  route({
    operationId: 'createProject',
    method: 'post',
    path: '/projects',
    summary: 'Create a project',
    tag,
    access: anyUser,
    audit: { action: 'project.create', made: ({ id }) => ({ id, projectId: id }) },
    body: CreateProject,
    reply: [201, Project],
    handle: async (app, { user, body }) => shown(app, await createProject(app, user.id, body)),
  }),
  route({
    operationId: 'getProject',
    method: 'get',
    path: '/projects/:projectId',
    summary: 'Get a project',
    tag,
    access: inProject('viewer'),
    reply: [200, Project],
    handle: async (app, { projectId, user }) => shown(app, await getProject(app.db.manager, projectId, user.id)),
  }),
  route({
    operationId: 'updateProject',
    method: 'patch',
    path: '/projects/:projectId',
    summary: 'Change the settings of a project',
    tag,
    access: inProject('admin'),
    audit: { action: 'project.update', object: theProject },
    body: UpdateProject,
    reply: [200, Project],
    handle: async (app, { projectId, user, body }) => shown(app, await updateProject(app, projectId, user.id, body)),
  }),
  route({
    operationId: 'deleteProject',
    method: 'delete',
    path: '/projects/:projectId',
    summary: 'Delete a project',
    tag,
    access: inProject('owner'),
    audit: { action: 'project.delete', object: theProject },
    reply: [204],
    errors: { 409: 'The project has unfinished runs' },
    handle: (app, { projectId }) => deleteProject(app, projectId),
  }),
  route({
    operationId: 'listMembers',
    method: 'get',
    path: '/projects/:projectId/members',
    summary: 'List the members of a project',
    tag,
    access: inProject('viewer'),
    reply: [200, z.array(Member)],
    handle: (app, { projectId }) => listMembers(app.db.manager, projectId),
  }),
  route({
    operationId: 'addMember',
    method: 'post',
    path: '/projects/:projectId/members',
    summary: 'Add a member',
    tag,
    access: inProject('admin'),
    audit: { action: 'member.add', made: ({ userId }, { projectId }) => ({ id: userId, projectId }) },
    body: AddMember,
    reply: [201, Member],
    errors: { 409: 'Already a member', 502: 'GitHub answered with an error' },
    waits: 'before it writes',
    handle: (app, { projectId, user, role, body }) => addMember(app, projectId, { id: user.id, role }, body),
  }),
  route({
    operationId: 'updateMember',
    method: 'patch',
    path: '/projects/:projectId/members/:userId',
    summary: 'Change the role of a member',
    tag,
    access: onMember('admin'),
    audit: { action: 'member.update', object: ({ member, projectId }) => ({ id: member.userId, projectId }) },
    body: UpdateMember,
    reply: [200, Member],
    errors: { 409: 'The only owner, or an owner who administers the account on GitHub' },
    handle: (app, { projectId, role, member, body }) => changeRole(app, projectId, role, member.userId, body.role),
  }),
  route({
    operationId: 'removeMember',
    method: 'delete',
    path: '/projects/:projectId/members/:userId',
    summary: 'Remove a member. Members can leave by using `me` as the user',
    tag,
    access: onMember('viewer'),
    audit: { action: 'member.remove', object: ({ member, projectId }) => ({ id: member.userId, projectId }) },
    reply: [204],
    errors: { 409: 'The only owner, or another owner who administers the account on GitHub' },
    handle: (app, { projectId, user, role, member }) =>
      removeMember(app, projectId, { id: user.id, role }, member.userId),
  }),
  ...projectTokenRoutes,
];
