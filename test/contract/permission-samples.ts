/**
 * One request for each operation of the API, with the roles that the API's rules ask for: what `permissions.test.ts` walks. A new
 * operation needs a sample here.
 */
import type { Role } from '../../src/resources/access.ts'
import type { Person, TestApi } from '../support/api.ts'

let count = 0
/** A number that no other call gets. */
export const unique = (): number => ++count

/** An owner with a site, and everything on it that an operation can name. */
export interface World {
  readonly owner: Person
  /** The owner through an application without the scope `owner`. */
  readonly plainOwner: Person
  readonly stranger: Person
  readonly strangersSite: number
  /** Collaborator on `site`, with the roles that the case is about. */
  readonly helper: Person
  readonly plainHelper: Person
  readonly mate: Person
  readonly site: number
  /** The owner's other site, which neither helper nor mate see. */
  readonly hidden: number
  readonly mateId: number
  readonly note: number
  /** Of the site: one that waits, one that has failed. */
  readonly waiting: number
  readonly failed: number
}

export interface Sample {
  readonly operation: string
  path(world: World): string
  body?(world: World): object
  /** When it may be done; 200 unless given. */
  readonly status?: number
  /** On a site: what a collaborator needs there; `[]`: to see it is enough. Without: the operation is about what the caller has. */
  readonly roles?: readonly Role[]
  readonly scope?: true
  /** Of something that only its owner (and whom it is about) sees: others get 404, collaborators of the site too. */
  readonly isPrivate?: true
  prepare?(world: World, api: TestApi): Promise<unknown>
}

const at = (path: string) => () => path
const onSite = (rest: string) => (world: World) => `/v1/sites/${world.site}${rest}`
const ofMate = (rest: string) => (world: World) => `/v1/collaborators/${world.mateId}${rest}`
const byEmail = (rest: string) => (world: World) =>
  `/v1/collaborators/${encodeURIComponent(world.mate.email)}/sites${rest.replace('{site}', String(world.site))}`
const setState = (state: 'disabled') => (world: World, api: TestApi) =>
  api.database.transaction((tx) => tx.updateTable('sites').set({ state }).where('id', '=', world.site).execute())

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'getAccount', path: at('/v1/account') },
  { operation: 'updateAccount', path: at('/v1/account'), body: () => ({ php_version: '8.2' }) },
  { operation: 'listAddons', path: at('/v1/account/addons') },
  { operation: 'listAttachedAddons', path: at('/v1/account/addons/attached') },
  { operation: 'updateAddons', path: at('/v1/account/addons'), body: () => ({ addon_id: 1, quantity: 1 }) },
  { operation: 'listAccountActivity', path: at('/v1/account/logs/activity') },
  { operation: 'listAccountActions', path: at('/v1/activity/account-actions') },
  { operation: 'listSiteActivity', path: onSite('/logs/activity'), roles: [] },
  { operation: 'listSiteActions', path: at('/v1/activity/site-actions') },
  { operation: 'listSites', path: at('/v1/sites') },
  { operation: 'createSite', path: at('/v1/sites'), body: () => ({ name: `new-${unique()}` }), status: 201 },
  { operation: 'createSite', path: at('/v1/sites'), body: ({ owner }) => ({ name: `new-${unique()}`, account_id: owner.accountId }), status: 201, isPrivate: true },
  { operation: 'validateSiteName', path: at('/v1/sites/validate'), body: () => ({ name: 'free-name' }) },
  { operation: 'searchSites', path: at('/v1/sites/search'), body: () => ({ filters: [{ key: 'state', value: 'live' }] }) },
  { operation: 'listInstallOptions', path: at('/v1/sites/install-options') },
  { operation: 'listDatacenters', path: at('/v1/sites/datacenters') },
  { operation: 'listPhpVersions', path: at('/v1/sites/php-versions') },
  { operation: 'getSite', path: onSite(''), roles: [] },
  { operation: 'updateSite', path: onSite(''), body: () => ({ name: 'Other' }), roles: ['update_site_custom_name'] },
  { operation: 'updateSite', path: onSite(''), body: () => ({ php_version: '8.1' }), roles: ['update_site_php_version'] },
  { operation: 'updateSite', path: onSite(''), body: () => ({ wp_environment_type: 'staging' }), roles: ['manage_performance'] },
  { operation: 'deleteSite', path: onSite(''), roles: ['delete_site'] },
  { operation: 'disableSite', path: onSite('/disable'), roles: ['disable_site'], scope: true },
  { operation: 'enableSite', path: onSite('/enable'), roles: ['enable_site'], scope: true, prepare: setState('disabled') },
  { operation: 'resetAdminPassword', path: onSite('/cms/password-reset'), roles: ['wp_access'] },
  { operation: 'getEdgeCache', path: onSite('/edge-cache'), roles: [] },
  { operation: 'toggleEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { operation: 'purgeEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { operation: 'setDefensiveMode', path: onSite('/edge-cache/defensive-mode'), roles: ['manage_performance'], body: () => ({ duration: '2-days' }) },
  { operation: 'toggleLight404', path: onSite('/light_weight_404'), roles: ['manage_performance'] },
  { operation: 'toggleMultisite', path: onSite('/multisite-support'), roles: ['manage_performance'] },
  { operation: 'toggleMaintenance', path: onSite('/maintenance-mode'), roles: ['manage_performance'] },
  { operation: 'purgeCdn', path: onSite('/cache'), roles: ['manage_performance'] },
  { operation: 'getCdn', path: onSite('/cdn'), roles: [] },
  { operation: 'enableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { operation: 'disableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { operation: 'toggleCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { operation: 'purgeObjectCache', path: onSite('/object-cache'), roles: ['manage_performance'] },
  { operation: 'listCollaborators', path: at('/v1/collaborators') },
  { operation: 'getCollaborator', path: ofMate(''), isPrivate: true },
  { operation: 'updateAccountLevelAccess', path: at('/v1/collaborators/update-account-level-access'), body: () => ({ email: 'x@example.com', create_site: true }), scope: true },
  { operation: 'batchCreateCollaborators', path: at('/v1/collaborators/batch_create'), body: ({ site }) => ({ email: 'x@example.com', siteIds: [site] }), roles: ['create_collaborator', 'execute_bulk_operations'] },
  { operation: 'batchDestroyCollaborators', path: at('/v1/collaborators/batch_destroy'), body: ({ site, mate }) => ({ email: mate.email, siteIds: [site] }), roles: ['delete_collaborator', 'execute_bulk_operations'] },
  { operation: 'listSiteCollaborators', path: onSite('/collaborators'), roles: [] },
  { operation: 'addSiteCollaborator', path: onSite('/collaborators'), body: () => ({ email: `x${unique()}@example.com` }), roles: ['create_collaborator'] },
  { operation: 'getSiteCollaborator', path: (world) => onSite(`/collaborators/${world.mateId}`)(world), roles: [] },
  { operation: 'removeSiteCollaborator', path: (world) => onSite(`/collaborators/${world.mateId}`)(world), roles: ['delete_collaborator'] },
  { operation: 'resetCollaboratorPassword', path: (world) => onSite(`/collaborators/${world.mateId}/wp-password-reset`)(world), roles: ['reset_collaborator_password'] },
  { operation: 'addFavorite', path: onSite('/favorites'), roles: [] },
  { operation: 'removeFavorite', path: onSite('/favorites'), roles: [] },
  { operation: 'addSiteTags', path: onSite('/tags'), body: () => ({ tag_names: ['a'] }), roles: [] },
  { operation: 'removeSiteTags', path: onSite('/tags'), body: () => ({ tag_ids: [1] }), roles: [] },
  { operation: 'getCollaborationSite', path: ofMate('/site'), isPrivate: true },
  { operation: 'addCollaborationTags', path: ofMate('/site/tags'), body: () => ({ tag_names: ['a'] }), isPrivate: true },
  { operation: 'removeCollaborationTags', path: ofMate('/site/tags'), body: () => ({ tag_ids: [1] }), isPrivate: true },
  { operation: 'listCollaboratorSites', path: byEmail(''), isPrivate: true },
  { operation: 'getCollaboratorSite', path: byEmail('/{site}'), isPrivate: true },
  { operation: 'addCollaboratorFavorite', path: byEmail('/{site}/favorite'), isPrivate: true },
  { operation: 'removeCollaboratorFavorite', path: byEmail('/{site}/favorite'), isPrivate: true },
  { operation: 'addCollaboratorTags', path: byEmail('/{site}/tag'), body: () => ({ tag_names: ['a'] }), isPrivate: true },
  { operation: 'removeCollaboratorTags', path: byEmail('/{site}/tag'), body: () => ({ tag_ids: [1] }), isPrivate: true },
  { operation: 'listNotes', path: onSite('/notes'), roles: ['manage_notes'] },
  { operation: 'createNote', path: onSite('/notes'), body: () => ({ subject: 's', body: 'b' }), roles: ['manage_notes'] },
  { operation: 'getNote', path: (world) => onSite(`/notes/${world.note}`)(world), roles: ['manage_notes'] },
  { operation: 'updateNote', path: (world) => onSite(`/notes/${world.note}`)(world), body: () => ({ subject: 't', body: 'c' }), roles: ['manage_notes'] },
  { operation: 'deleteNote', path: (world) => onSite(`/notes/${world.note}`)(world), roles: ['manage_notes'] },
  { operation: 'listServerLog', path: onSite('/logs/server'), roles: [] },
  { operation: 'listPhpLog', path: onSite('/logs/php'), roles: [] },
  { operation: 'getSiteStatistics', path: onSite('/statistics'), roles: [] },
  { operation: 'listOperations', path: at('/v1/operations') },
  { operation: 'getOperation', path: (world) => `/v1/operations/${world.waiting}`, roles: [] },
  { operation: 'watchOperation', path: (world) => `/v1/operations/${world.failed}/events`, roles: [] },
  { operation: 'cancelOperation', path: (world) => `/v1/operations/${world.waiting}/cancel`, roles: ['create_collaborator'] },
  { operation: 'retryOperation', path: (world) => `/v1/operations/${world.failed}/retry`, roles: ['create_collaborator'] },
]
