import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getEdgeCache', path: onSite('/edge-cache'), roles: [] },
  { endpoint: 'toggleEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { endpoint: 'purgeEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { endpoint: 'setDefensiveMode', path: onSite('/edge-cache/defensive-mode'), roles: ['manage_performance'], body: () => ({ duration: '2-days' }) },
  { endpoint: 'purgeCdn', path: onSite('/cache'), roles: ['manage_performance'] },
  { endpoint: 'getCdn', path: onSite('/cdn'), roles: [] },
  { endpoint: 'enableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { endpoint: 'disableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { endpoint: 'toggleCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { endpoint: 'purgeObjectCache', path: onSite('/object-cache'), roles: ['manage_performance'] },
]

export const examples: Examples = {
  setDefensiveMode: () => ({ body: { duration: '1-hour' } }),
  enableCdn: async ({ owner, siteId }) => {
    await owner.call('DELETE', `/v1/sites/${siteId}/cdn`)
    return {}
  },
}
