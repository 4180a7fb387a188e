import { at, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listAccountActivity', path: at('/v1/account/logs/activity') },
  { endpoint: 'listRecentActivity', path: at('/v1/activity') },
  { endpoint: 'listAccountActions', path: at('/v1/activity/account-actions') },
  { endpoint: 'listSiteActivity', path: onSite('/logs/activity'), roles: [] },
  { endpoint: 'listSiteActions', path: at('/v1/activity/site-actions') },
]
