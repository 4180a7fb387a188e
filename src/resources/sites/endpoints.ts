import { cloneSite } from './clone-site.ts'
import { convertSite } from './convert-site.ts'
import { createSite } from './create-site.ts'
import { deleteSite } from './delete-site.ts'
import { disableSite } from './disable-site.ts'
import { enableSite } from './enable-site.ts'
import { getSite } from './get-site.ts'
import { getSiteStatus } from './get-site-status.ts'
import { listDatacenters } from './list-datacenters.ts'
import { listInstallOptions } from './list-install-options.ts'
import { listPhpVersions } from './list-php-versions.ts'
import { listSites } from './list-sites.ts'
import { moveSite } from './move-site.ts'
import { resetAdminPassword } from './reset-admin-password.ts'
import { searchSites } from './search-sites.ts'
import { setSafeMode } from './set-safe-mode.ts'
import { updateSite } from './update-site.ts'
import { validateSiteName } from './validate-site-name.ts'

/** In the order of the description of the API. */
export const endpoints = [
  listSites,
  createSite,
  validateSiteName,
  searchSites,
  listInstallOptions,
  listDatacenters,
  listPhpVersions,
  getSite,
  getSiteStatus,
  updateSite,
  moveSite,
  deleteSite,
  disableSite,
  enableSite,
  convertSite,
  cloneSite,
  resetAdminPassword,
  setSafeMode,
]
