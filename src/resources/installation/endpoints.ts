import { cancelAccountRemoval } from './accounts/cancel-account-removal.ts'
import { getAccountRemoval } from './accounts/get-account-removal.ts'
import { removeAccount } from './accounts/remove-account.ts'
import { resumeAccount } from './accounts/resume-account.ts'
import { suspendAccount } from './accounts/suspend-account.ts'
import { checkInstallation } from './check-installation.ts'
import { getInstallation } from './get-installation.ts'
import { cordonHost } from './hosts/cordon-host.ts'
import { drainHost } from './hosts/drain-host.ts'
import { loseHost } from './hosts/lose-host.ts'
import { rebalanceHosts } from './hosts/rebalance-hosts.ts'
import { removeHost } from './hosts/remove-host.ts'
import { replaceHost } from './hosts/replace-host.ts'
import { returnHost } from './hosts/return-host.ts'
import { uncordonHost } from './hosts/uncordon-host.ts'
import { listInstallationAccounts } from './list-accounts.ts'
import { listSiteHosts } from './relocate/list-site-hosts.ts'
import { relocateSite } from './relocate/relocate-site.ts'

/** In the order of the API description. */
export const endpoints = [
  getInstallation,
  checkInstallation,
  listInstallationAccounts,
  suspendAccount,
  resumeAccount,
  getAccountRemoval,
  removeAccount,
  cancelAccountRemoval,
  cordonHost,
  uncordonHost,
  drainHost,
  replaceHost,
  rebalanceHosts,
  loseHost,
  returnHost,
  removeHost,
  listSiteHosts,
  relocateSite,
]
