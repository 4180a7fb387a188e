/**
 * Requests that the contract tests cannot think of from a schema. An operation needs an entry here only when its required fields have
 * a pattern or a meaning, or when its path names more than a site. Each one succeeds for the owner of `siteId`.
 */
import { enqueue } from '../../src/platform/operations/enqueue.ts'
import { configureSite } from '../../src/resources/sites/configure-site.job.ts'
import type { Person, TestApi } from '../support/api.ts'

/** Where an example is used. */
export interface Scene {
  readonly api: TestApi
  /** Owns `siteId`. */
  readonly owner: Person
  /** Collaborates on `siteId`, with all roles. */
  readonly friend: Person
  readonly siteId: number
  /** Of the friend, on `siteId`. */
  readonly collaboratorId: number
  /** Different for each scene. */
  readonly number: number
}

export interface Example {
  readonly params?: Record<string, string | number>
  readonly query?: Record<string, string>
  readonly body?: Record<string, unknown>
}

export const examples: Record<string, (scene: Scene) => Example | Promise<Example>> = {
  issueToken: ({ owner }) => ({
    body: { grant_type: 'client_credentials', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),
  revokeToken: ({ owner }) => ({
    body: { token: 'unknown', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),

  updateAccount: () => ({ body: { php_version: '8.2' } }),
  updateAddons: () => ({ body: { addon_id: 1, quantity: 2 } }),

  createSite: ({ number }) => ({ body: { name: `example-${number}` } }),
  updateSite: () => ({ body: { name: 'Renamed', php_version: '8.2', wp_environment_type: 'staging' } }),
  validateSiteName: () => ({ body: { name: 'example' } }),
  searchSites: () => ({ body: { filters: [{ key: 'name', value: 'example' }] } }),
  enableSite: async ({ api, siteId }) => {
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', siteId).execute(),
    )
    return {}
  },

  setDefensiveMode: () => ({ body: { duration: '1-hour' } }),
  enableCdn: async ({ owner, siteId }) => {
    await owner.call('DELETE', `/v1/sites/${siteId}/cdn`)
    return {}
  },

  addSiteCollaborator: ({ number }) => ({ body: { email: `new-${number}@example.com`, roles: ['wp_access'] } }),
  getSiteCollaborator: ({ collaboratorId }) => ({ params: { id: collaboratorId } }),
  removeSiteCollaborator: ({ collaboratorId }) => ({
    params: { id: collaboratorId },
    query: { delete_wp_user: 'true' },
  }),
  resetCollaboratorPassword: ({ collaboratorId }) => ({ params: { id: collaboratorId } }),
  getCollaborator: ({ collaboratorId }) => ({ params: { id: collaboratorId } }),
  updateAccountLevelAccess: ({ friend }) => ({ body: { email: friend.email, add_to_all_new: true } }),
  batchCreateCollaborators: ({ siteId, friend }) => ({ body: { email: friend.email, siteIds: [siteId], roles: [] } }),
  batchDestroyCollaborators: ({ siteId, friend }) => ({ body: { email: friend.email, siteIds: [siteId] } }),

  removeFavorite: async ({ owner, siteId }) => {
    await owner.call('POST', `/v1/sites/${siteId}/favorites`)
    return {}
  },
  addSiteTags: () => ({ body: { tag_names: ['a'] } }),
  removeSiteTags: async (scene) => ({ body: { tag_ids: [await tagged(scene.owner, scene)] } }),
  getCollaborationSite: ({ collaboratorId }) => ({ params: { collaborator_id: collaboratorId } }),
  addCollaborationTags: ({ collaboratorId }) => ({
    params: { collaborator_id: collaboratorId },
    body: { tag_names: ['a'] },
  }),
  removeCollaborationTags: async (scene) => ({
    params: { collaborator_id: scene.collaboratorId },
    body: { tag_ids: [await tagged(scene.friend, scene)] },
  }),
  listCollaboratorSites: ({ friend }) => ({ params: { email_address: friend.email } }),
  getCollaboratorSite: ({ friend }) => ({ params: { email_address: friend.email } }),
  addCollaboratorFavorite: ({ friend }) => ({ params: { email_address: friend.email } }),
  removeCollaboratorFavorite: async ({ friend, siteId }) => {
    await friend.call('POST', `/v1/sites/${siteId}/favorites`)
    return { params: { email_address: friend.email } }
  },
  addCollaboratorTags: ({ friend }) => ({ params: { email_address: friend.email }, body: { tag_names: ['a'] } }),
  removeCollaboratorTags: async (scene) => ({
    params: { email_address: scene.friend.email },
    body: { tag_ids: [await tagged(scene.friend, scene)] },
  }),

  getNote: noted,
  deleteNote: noted,
  updateNote: async (scene) => ({ ...(await noted(scene)), body: { subject: 'Changed' } }),

  getOperation: queued,
  cancelOperation: queued,
  watchOperation: async (scene) => ({ params: { id: await operationIn('succeeded', scene) } }),
  retryOperation: async (scene) => ({ params: { id: await operationIn('failed', scene) } }),
}

/** Somebody's own tag on the site. @returns its id */
async function tagged(person: Person, { siteId }: Scene): Promise<number> {
  const reply = await person.call('POST', `/v1/sites/${siteId}/tags`, { tag_names: ['own'] })
  return reply.body.data.tags[0].id
}

async function noted({ owner, siteId }: Scene): Promise<Example> {
  const note = await owner.call('POST', `/v1/sites/${siteId}/notes`, { subject: 'Subject', body: 'Body' })
  return { params: { id: note.body.data.id } }
}

async function queued(scene: Scene): Promise<Example> {
  return { params: { id: await operationIn('queued', scene) } }
}

async function operationIn(state: 'queued' | 'succeeded' | 'failed', { api, owner, siteId }: Scene): Promise<number> {
  return api.database.transaction(async (tx) => {
    const site = await tx.selectFrom('sites').select('host_id').where('id', '=', siteId).executeTakeFirstOrThrow()
    const target = { siteId, accountId: owner.accountId, hostId: site.host_id }
    const id = await enqueue(tx, configureSite, { siteId }, { ...target, runAt: Date.now() + 86_400_000 })
    const finishedAt = state === 'queued' ? null : Date.now()
    await tx.updateTable('operations').set({ state, finished_at: finishedAt }).where('id', '=', id).execute()
    return id
  })
}
