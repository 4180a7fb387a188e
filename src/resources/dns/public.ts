/** What other folders may import from this resource. */
export { problems } from './problems.ts'
export { ZoneId } from './records/record.ts'
export { zoneToChange } from './reserved.ts'
export { addSiteHost, checkHost, checkHostName, type HostOfSite, othersAt, removeSiteHost } from './site-hosts.ts'
export {
  domainsOfSite,
  dropIfEmpty,
  dropZone,
  forgetEmptyZones,
  holdZone,
  hostNamesIn,
  insertZone,
  type RecordInZone,
  recordsOfZone,
  sitesOfZone,
  zoneByName,
  zoneOfOther,
  zonesOfAccount,
} from './zone.store.ts'
export type { Zone } from './zone.ts'
export { managedZone } from './zone-access.ts'
export { labelIn, normalHostName, zoneNameOf } from './zone-name.ts'
