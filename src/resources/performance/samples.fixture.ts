import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'toggleLight404', path: onSite('/light_weight_404'), roles: ['manage_performance'] },
  { endpoint: 'toggleMultisite', path: onSite('/multisite-support'), roles: ['manage_performance'] },
  { endpoint: 'toggleMaintenance', path: onSite('/maintenance-mode'), roles: ['manage_performance'] },
]
