import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listServerLog', path: onSite('/logs/server'), roles: [] },
  { endpoint: 'listPhpLog', path: onSite('/logs/php'), roles: [] },
  { endpoint: 'countPhpLog', path: onSite('/logs/php/count?status=Database%20error'), roles: [] },
]
