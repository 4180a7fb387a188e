import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'listServerLog', path: onSite('/logs/server'), roles: [] },
  { operation: 'listPhpLog', path: onSite('/logs/php'), roles: [] },
]
