import { at, type Sample } from '../../../test/support/samples.ts'

export const samples: readonly Sample[] = [
  { endpoint: 'getInstallation', path: at('/v1/installation') },
  { endpoint: 'listInstallationAccounts', path: at('/v1/installation/accounts') },
  { endpoint: 'checkInstallation', path: at('/v1/installation/checks') },
]
