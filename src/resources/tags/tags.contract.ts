import type { Person } from '../../../test/support/api.ts'
import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { byEmail, type Examples, ofMate, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'

async function fillTags(scene: Scene): Promise<void> {
  for (const { accountId } of [scene.owner, scene.friend]) {
    const tags = Array.from({ length: 2000 }, (_, index) => ({ account_id: accountId, name: `tag ${index}` }))
    await write(scene, (tx) => tx.insertInto('tags').values(tags).execute())
  }
}

/**
 * Creates another account's tag on the site.
 * @returns its ID
 */
async function tagged(person: Person, { siteId }: Scene): Promise<number> {
  const reply = await person.call('POST', `/v1/sites/${siteId}/tags`, { tag_names: ['own'] })
  return reply.body.data.tags[0].id
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'addFavorite', path: onSite('/favorites'), roles: [] },
  { endpoint: 'removeFavorite', path: onSite('/favorites'), roles: [] },
  { endpoint: 'addSiteTags', path: onSite('/tags'), body: () => ({ tag_names: ['a'] }), roles: [] },
  { endpoint: 'removeSiteTags', path: onSite('/tags'), body: () => ({ tag_ids: [1] }), roles: [] },
  { endpoint: 'getCollaborationSite', path: ofMate('/site'), isPrivate: true },
  { endpoint: 'addCollaborationTags', path: ofMate('/site/tags'), body: () => ({ tag_names: ['a'] }), isPrivate: true },
  { endpoint: 'removeCollaborationTags', path: ofMate('/site/tags'), body: () => ({ tag_ids: [1] }), isPrivate: true },
  { endpoint: 'listCollaboratorSites', path: byEmail(''), isPrivate: true },
  { endpoint: 'getCollaboratorSite', path: byEmail('/{site}'), isPrivate: true },
  { endpoint: 'addCollaboratorFavorite', path: byEmail('/{site}/favorite'), isPrivate: true },
  { endpoint: 'removeCollaboratorFavorite', path: byEmail('/{site}/favorite'), isPrivate: true },
  { endpoint: 'addCollaboratorTags', path: byEmail('/{site}/tag'), body: () => ({ tag_names: ['a'] }), isPrivate: true },
  { endpoint: 'removeCollaboratorTags', path: byEmail('/{site}/tag'), body: () => ({ tag_ids: [1] }), isPrivate: true },
]

const examples: Examples = {
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
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['addSiteTags', 'addCollaborationTags', 'addCollaboratorTags'], code: 'tag_limit_reached', prepare: fillTags },
]

export const contract: Contract = { samples, examples, problems }
