import { at, type Examples, onSite, type Sample, setState, unique } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listSites', path: at('/v1/sites') },
  { endpoint: 'createSite', path: at('/v1/sites'), body: () => ({ name: `new-${unique()}` }), status: 201 },
  { endpoint: 'createSite', path: at('/v1/sites'), body: ({ owner }) => ({ name: `new-${unique()}`, account_id: owner.accountId }), status: 201, isPrivate: true },
  { endpoint: 'validateSiteName', path: at('/v1/sites/validate'), body: () => ({ name: 'free-name' }) },
  { endpoint: 'searchSites', path: at('/v1/sites/search'), body: () => ({ filters: [{ key: 'state', value: 'live' }] }) },
  { endpoint: 'listInstallOptions', path: at('/v1/sites/install-options') },
  { endpoint: 'listDatacenters', path: at('/v1/sites/datacenters') },
  { endpoint: 'listPhpVersions', path: at('/v1/sites/php-versions') },
  { endpoint: 'getSite', path: onSite(''), roles: [] },
  { endpoint: 'getSiteStatus', path: onSite('/status'), roles: [] },
  { endpoint: 'updateSite', path: onSite(''), body: () => ({ name: 'Other' }), roles: ['update_site_custom_name'] },
  { endpoint: 'updateSite', path: onSite(''), body: () => ({ php_version: '8.1' }), roles: ['update_site_php_version'] },
  { endpoint: 'updateSite', path: onSite(''), body: () => ({ wp_environment_type: 'staging' }), roles: ['manage_performance'] },
  { endpoint: 'moveSite', path: onSite('/runtime'), body: () => ({ runtime: 'wasm' }), roles: ['update_site_php_version'] },
  { endpoint: 'deleteSite', path: onSite(''), roles: ['delete_site'] },
  { endpoint: 'disableSite', path: onSite('/disable'), roles: ['disable_site'], scope: true },
  { endpoint: 'enableSite', path: onSite('/enable'), roles: ['enable_site'], scope: true, prepare: setState('disabled') },
  { endpoint: 'convertSite', path: onSite('/convert'), roles: ['convert_site'], scope: true },
  { endpoint: 'cloneSite', path: onSite('/clone'), body: () => ({ name: `clone-${unique()}` }), roles: ['clone_site'] },
  { endpoint: 'resetAdminPassword', path: onSite('/cms/password-reset'), roles: ['wp_access'] },
  { endpoint: 'setSafeMode', path: onSite('/cms/safe-mode'), body: () => ({ enabled: true }), roles: ['wp_access'] },
]

export const examples: Examples = {
  createSite: ({ number }) => ({ body: { name: `example-${number}` } }),
  cloneSite: ({ number }) => ({ body: { name: `clone-${number}` } }),
  updateSite: () => ({ body: { name: 'Renamed', php_version: '8.2', wp_environment_type: 'staging' } }),
  validateSiteName: () => ({ body: { name: 'example' } }),
  moveSite: () => ({ body: { runtime: 'wasm' } }),
  setSafeMode: () => ({ body: { enabled: true } }),
  searchSites: () => ({ body: { filters: [{ key: 'name', value: 'example' }] } }),
  enableSite: async ({ api, siteId }) => {
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', siteId).execute(),
    )
    return {}
  },
}
