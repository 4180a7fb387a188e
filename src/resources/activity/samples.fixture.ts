import { at, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'listAccountActivity', path: at('/v1/account/logs/activity') },
  { operation: 'listAccountActions', path: at('/v1/activity/account-actions') },
  { operation: 'listSiteActivity', path: onSite('/logs/activity'), roles: [] },
  { operation: 'listSiteActions', path: at('/v1/activity/site-actions') },
]
