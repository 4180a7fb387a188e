import type { EventType } from '../webhooks/public.ts'
import { events } from './events.ts'

/**
 * What an alert of one kind says. To add a kind, add an entry to {@link alertKinds} and its webhook event, and call
 * `raiseAlert` and `endAlert`.
 */
export interface AlertKind {
  readonly severity: 'critical' | 'warning'
  /** In lists of kinds. */
  readonly title: string
  /** Whether it is about the installation, and reaches its operator. */
  readonly isOfPlatform?: true
  /** Whether it is mailed to people who have not chosen. */
  readonly isMailed: boolean
  /** Webhook event of its begin. Without it, what causes the alert sends events. */
  readonly event?: EventType
  /** @param site its display name. Empty for the installation */
  began(site: string, subject: string): string
  ended(site: string, subject: string): string
}

/** Every kind of alert by name. Names are stored, so they never change. */
export const alertKinds = {
  site_down: {
    severity: 'critical',
    title: 'Site is down',
    isMailed: true,
    began: (site) => `${site} is down`,
    ended: (site) => `${site} is no longer down`,
  },
  domain_elsewhere: {
    severity: 'critical',
    title: 'Domain no longer points here',
    isMailed: true,
    event: events.domain_elsewhere,
    began: (site, domain) => `${domain} no longer points to ${site}`,
    ended: (site, domain) => `${domain} points to ${site} again, or was removed`,
  },
  certificate_expiring: {
    severity: 'critical',
    title: 'Certificate is not renewed',
    isMailed: true,
    event: events.certificate_expiring,
    began: (site, domain) => `The certificate of ${domain} (${site}) is about to expire`,
    ended: (site, domain) => `The certificate of ${domain} (${site}) was renewed, or is no longer needed`,
  },
  site_disk_filling: {
    severity: 'warning',
    title: 'Site uses over 80 % of its disk space',
    isMailed: true,
    event: events.site_disk_filling,
    began: (site) => `${site} uses over 80 % of its disk space`,
    ended: (site) => `${site} uses less than 80 % of its disk space again`,
  },
  site_disk_full: {
    severity: 'critical',
    title: 'Site uses over 95 % of its disk space',
    isMailed: true,
    event: events.site_disk_full,
    began: (site) => `${site} uses over 95 % of its disk space`,
    ended: (site) => `${site} uses less than 95 % of its disk space again`,
  },
  backup_failed: {
    severity: 'critical',
    title: 'Scheduled backup failed',
    isMailed: true,
    event: events.backup_failed,
    began: (site, what) => `The scheduled backup of the ${what} of ${site} failed`,
    ended: (site, what) => `The ${what} of ${site} were backed up again`,
  },
  backup_proof_failed: {
    severity: 'critical',
    title: 'Backup failed its test restore',
    isMailed: true,
    event: events.backup_proof_failed,
    began: (site) => `The newest backup of ${site} failed its test restore`,
    ended: (site) => `The newest backup of ${site} passed its test restore`,
  },
  update_undone: {
    severity: 'warning',
    title: 'Update was undone',
    isMailed: true,
    event: events.update_undone,
    began: (site, what) => `The update of ${what} on ${site} was undone`,
    ended: (site, what) => `The failed update of ${what} on ${site} is over`,
  },
  vulnerability: {
    severity: 'critical',
    title: 'Known vulnerability',
    isMailed: true,
    event: events.vulnerability_found,
    began: (site, what) => `${site} has a known vulnerability in ${what}`,
    ended: (site, what) => `${site} no longer has a known vulnerability in ${what}`,
  },
  php_errors: {
    severity: 'warning',
    title: 'PHP ends with errors',
    isMailed: true,
    event: events.php_errors,
    began: (site) => `PHP of ${site} ends with errors`,
    ended: (site) => `PHP of ${site} has ended without errors for half an hour`,
  },
  mail_bouncing: {
    severity: 'warning',
    title: 'Mail of the site bounces',
    isMailed: true,
    event: events.mail_bouncing,
    began: (site) => `Mail of ${site} bounces`,
    ended: (site) => `No mail of ${site} has bounced for half an hour`,
  },
  host_silent: {
    severity: 'critical',
    title: 'Host does not report',
    isOfPlatform: true,
    isMailed: true,
    event: events.host_silent,
    began: (_, host) => `The host ${host} does not report`,
    ended: (_, host) => `The host ${host} reports again, or was removed`,
  },
  host_disk_filling: {
    severity: 'warning',
    title: 'Disk of a host is over 80 % full',
    isOfPlatform: true,
    isMailed: true,
    event: events.host_disk_filling,
    began: (_, host) => `The disk of the host ${host} is over 80 % full`,
    ended: (_, host) => `The disk of the host ${host} is less than 80 % full again`,
  },
  host_disk_full: {
    severity: 'critical',
    title: 'Disk of a host is over 95 % full',
    isOfPlatform: true,
    isMailed: true,
    event: events.host_disk_full,
    began: (_, host) => `The disk of the host ${host} is over 95 % full`,
    ended: (_, host) => `The disk of the host ${host} is less than 95 % full again`,
  },
  platform_certificate_expiring: {
    severity: 'critical',
    title: "Certificate of Stead's own name is not renewed",
    isOfPlatform: true,
    isMailed: true,
    event: events.platform_certificate_expiring,
    began: (_, name) => `The certificate of ${name} is about to expire`,
    ended: (_, name) => `The certificate of ${name} was renewed, or is no longer needed`,
  },
} as const satisfies Record<string, AlertKind>

export type AlertKindName = keyof typeof alertKinds

export const alertKindNames = Object.keys(alertKinds) as AlertKindName[]

/** @returns `undefined` for a kind of a later version */
export const alertKindOf = (name: string): AlertKind | undefined => (alertKinds as Record<string, AlertKind>)[name]
