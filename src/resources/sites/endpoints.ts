import { cloneSite } from './clone/clone-site.ts'
import { createSite } from './create/create-site.ts'
import { listDatacenters } from './create/list-datacenters.ts'
import { listInstallOptions } from './create/list-install-options.ts'
import { listPhpVersions } from './create/list-php-versions.ts'
import { validateSiteName } from './create/validate-site-name.ts'
import { moveSite } from './move/move-site.ts'
import { convertSite } from './network/convert-site.ts'
import { deleteSite } from './remove/delete-site.ts'
import { getSite } from './show/get-site.ts'
import { getSiteStatus } from './show/get-site-status.ts'
import { listSites } from './show/list-sites.ts'
import { searchSites } from './show/search-sites.ts'
import { disableSite } from './switches/disable-site.ts'
import { enableSite } from './switches/enable-site.ts'
import { setSafeMode } from './switches/set-safe-mode.ts'
import { updateSite } from './update-site.ts'
import { resetAdminPassword } from './wordpress/reset-admin-password.ts'

/** In the order of the API description. */
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
