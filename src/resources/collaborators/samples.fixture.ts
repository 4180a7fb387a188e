import { at, type Examples, ofMate, onSite, type Sample, unique } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listCollaborators', path: at('/v1/collaborators') },
  { endpoint: 'getCollaborator', path: ofMate(''), isPrivate: true },
  { endpoint: 'updateAccountLevelAccess', path: at('/v1/collaborators/update-account-level-access'), body: () => ({ email: 'x@example.com', create_site: true }), scope: true },
  { endpoint: 'batchCreateCollaborators', path: at('/v1/collaborators/batch_create'), body: ({ site }) => ({ email: 'x@example.com', siteIds: [site] }), roles: ['create_collaborator', 'execute_bulk_operations'] },
  { endpoint: 'batchDestroyCollaborators', path: at('/v1/collaborators/batch_destroy'), body: ({ site, mate }) => ({ email: mate.email, siteIds: [site] }), roles: ['delete_collaborator', 'execute_bulk_operations'] },
  { endpoint: 'listSiteCollaborators', path: onSite('/collaborators'), roles: [] },
  { endpoint: 'addSiteCollaborator', path: onSite('/collaborators'), body: () => ({ email: `x${unique()}@example.com` }), roles: ['create_collaborator'] },
  { endpoint: 'getSiteCollaborator', path: (world) => onSite(`/collaborators/${world.mateId}`)(world), roles: [] },
  { endpoint: 'removeSiteCollaborator', path: (world) => onSite(`/collaborators/${world.mateId}`)(world), roles: ['delete_collaborator'] },
  { endpoint: 'resetCollaboratorPassword', path: (world) => onSite(`/collaborators/${world.mateId}/wp-password-reset`)(world), roles: ['reset_collaborator_password'] },
  { endpoint: 'listSiteRights', path: onSite('/rights'), roles: [] },
]

export const examples: Examples = {
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
}
