import { checkInstallation } from './check-installation.ts'
import { getInstallation } from './get-installation.ts'
import { listInstallationAccounts } from './list-accounts.ts'

/** In the order of the description of the API. */
export const endpoints = [getInstallation, checkInstallation, listInstallationAccounts]
