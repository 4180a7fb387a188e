/** What other folders may import from this resource. */
export { events } from './actions.ts'
export { edgeAddresses } from './addresses/edge-addresses.ts'
export { setPrimaryDomain } from './addresses/primary-domain.store.ts'
export {
  deleteDomainRoute,
  hostNamesOf,
  putDomainRoute,
  siteOfHostName,
  touchRoutes,
  touchRoutesOfAccount,
} from './addresses/route.store.ts'
export { addressesOf, mainAddressesOf, movedTo } from './addresses/site-addresses.ts'
export { cloneProblems, requestClone } from './clone/request-clone.ts'
export { fitDatabase, LONG_TASK_MS } from './content/fit-database.ts'
export { contentReplacement, openAfterFailure, requireDirectory, stagedContent } from './content/replace-content.ts'
export { verifyContent } from './content/verify-content.ts'
export { openHosts } from './create/creation.store.ts'
export { placeAgain } from './create/place-again.ts'
export { choosePlace, type HostRoom } from './create/placement.ts'
export { provisionSite } from './create/provision-site.job.ts'
export { adviceForShop, shopAdvice, versionForShop } from './create/shop-runtime.ts'
export { type License, LicenseSchema, presentLicense } from './create/site-license.ts'
export { type MoveRequest, requestMove } from './move/request-move.ts'
export { fitNetwork } from './network/fit-network.ts'
export { networkConstants, noNetwork } from './network/network.ts'
export { upgradeBlogs } from './network/upgrade-blogs.ts'
export { problems } from './problems.ts'
export { tellOfLostSite } from './remove/lost-site.ts'
export { removeSitesOf } from './remove/remove-sites-of.job.ts'
export { restoreFromTrash, SiteIsLeaving } from './remove/trash.ts'
export { displayNames, type SiteRights, sitesWithRights } from './rights.store.ts'
export { canTake, databaseOfSite, type HostRuntimes, runtimesOfHost, runtimesOfHosts } from './runtime.store.ts'
export {
  ListedSiteSchema,
  presentSite,
  presentSiteWithAddresses,
  SiteSchema,
  SiteWithAddresses,
} from './show/present-site.ts'
export { countSites } from './show/site-counts.store.ts'
export { presentAll } from './show/site-status.ts'
export {
  countVisibleSites,
  findCollaboration,
  holdVisibleSite,
  listSitesWithIds,
  listVisibleSites,
  type VisibleSite,
  visibleSite,
} from './show/visible-site.store.ts'
export {
  changeSite,
  findSite,
  findSiteNamed,
  holdDeletedSite,
  holdSite,
  setHost,
  writtenAddressOf,
} from './site.store.ts'
export {
  environmentTypes,
  hostOfAddress,
  httpsPort,
  isInstalled,
  type ListedSite,
  requireInstalled,
  requireLive,
  type Site,
  siteAddress,
  siteConstants,
  stagingHostName,
} from './site.ts'
export { grantAccess, revokeAccess } from './site-access.store.ts'
export { closeForWork } from './switches/close-for-work.ts'
export { closeSite, contentState, openSite } from './switches/closing.store.ts'
export { configureSite } from './switches/configure-site.job.ts'
export { setDefensiveUntil } from './switches/defensive-mode.store.ts'
export { purgeCaches } from './switches/purge.store.ts'
export { tellOfRecovery } from './switches/recovery-mail.ts'
export { switchSetting } from './switches/switches.store.ts'
export { forgetOldPassword } from './wordpress/forget-old-password.ts'
export { runSiteTask } from './wordpress/run-site-task.ts'
export { diskQuota, quotaOfSettings, tellDiskFull } from './wordpress/site-disk.ts'
export { siteFilled } from './wordpress/site-filled.ts'
