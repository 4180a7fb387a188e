import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'toggleLight404', path: onSite('/light_weight_404'), roles: ['manage_performance'] },
  { operation: 'toggleMultisite', path: onSite('/multisite-support'), roles: ['manage_performance'] },
  { operation: 'toggleMaintenance', path: onSite('/maintenance-mode'), roles: ['manage_performance'] },
]
