import { getSiteUptime } from './get-site-uptime.ts'
import { listMonitoredSites } from './list-monitored-sites.ts'
import { listSiteIncidents } from './list-site-incidents.ts'

/** In the order of the API description. */
export const endpoints = [listMonitoredSites, getSiteUptime, listSiteIncidents]
