import { at, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getSiteStatistics', path: onSite('/statistics'), roles: [] },
  { endpoint: 'listDailyStatistics', path: onSite('/statistics/days'), roles: [] },
  { endpoint: 'listSiteFigures', path: at('/v1/sites/statistics'), body: ({ site }) => ({ site_ids: [site] }) },
]
