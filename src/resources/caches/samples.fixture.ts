import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'getEdgeCache', path: onSite('/edge-cache'), roles: [] },
  { operation: 'toggleEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { operation: 'purgeEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { operation: 'setDefensiveMode', path: onSite('/edge-cache/defensive-mode'), roles: ['manage_performance'], body: () => ({ duration: '2-days' }) },
  { operation: 'purgeCdn', path: onSite('/cache'), roles: ['manage_performance'] },
  { operation: 'getCdn', path: onSite('/cdn'), roles: [] },
  { operation: 'enableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { operation: 'disableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { operation: 'toggleCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { operation: 'purgeObjectCache', path: onSite('/object-cache'), roles: ['manage_performance'] },
]

export const examples: Examples = {
  setDefensiveMode: () => ({ body: { duration: '1-hour' } }),
  enableCdn: async ({ owner, siteId }) => {
    await owner.call('DELETE', `/v1/sites/${siteId}/cdn`)
    return {}
  },
}
