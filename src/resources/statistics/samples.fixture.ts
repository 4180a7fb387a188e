import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'getSiteStatistics', path: onSite('/statistics'), roles: [] },
]
