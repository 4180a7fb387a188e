import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getSiteStatistics', path: onSite('/statistics'), roles: [] },
  { endpoint: 'listDailyStatistics', path: onSite('/statistics/days'), roles: [] },
]
