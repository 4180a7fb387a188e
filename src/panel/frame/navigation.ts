import type { IconName } from '../parts/icons.ts'
import type { Right } from '../parts/rights.tsx'

interface Entry<Name extends string> {
  readonly name: Name
  readonly icon: IconName
  /** The API operation that reads the page. The entry is hidden without the right to it. */
  readonly readBy?: Right | undefined
}

const entry = <Name extends string>(name: Name, icon: IconName, readBy?: Right): Entry<Name> => ({
  name,
  icon,
  readBy,
})

/** Pages of all sites. */
export const mainPages = [
  entry('sites', 'appWindow'),
  entry('zones', 'globe'),
  entry('monitoring', 'activity'),
  entry('alerts', 'bell'),
  entry('plugins', 'plug'),
  entry('operations', 'clock'),
  entry('activity', 'list'),
]

/** Pages below `account/`. */
export const accountPages = [
  entry('you', 'circleUser'),
  entry('collaborators', 'users'),
  entry('plan', 'creditCard'),
  entry('alerts', 'settings'),
  entry('webhooks', 'webhook'),
  entry('mu-plugins', 'package'),
]

/** Pages for the operator of the installation. */
export const operatorPages = [entry('platform', 'server')]

export type MainEntry = (typeof mainPages | typeof operatorPages)[number]

/** Pages of a site, below `sites/<id>/`. */
export const sitePages = [
  { entries: [entry('overview', 'house')] },
  {
    title: 'traffic',
    entries: [
      entry('uptime', 'activity'),
      entry('statistics', 'chartColumn'),
      entry('performance', 'gauge'),
      entry('client-reports', 'mail'),
      entry('logs', 'fileText'),
    ],
  },
  {
    title: 'content',
    entries: [
      entry('plugins', 'plug'),
      entry('backups', 'archive', 'listOndemandBackups'),
      entry('copies', 'gitBranch'),
      entry('imports', 'import', 'listImports'),
    ],
  },
  {
    title: 'access',
    entries: [
      entry('domains', 'globe'),
      entry('collaborators', 'users'),
      entry('sftp', 'squareTerminal', 'listSftpUsers'),
      entry('database', 'database', 'getDatabaseAdminUrl'),
    ],
  },
  {
    title: 'manage',
    entries: [
      entry('cache', 'zap'),
      entry('operations', 'clock'),
      entry('activity', 'list'),
      entry('notes', 'stickyNote', 'listNotes'),
      entry('settings', 'settings'),
    ],
  },
] as const

export type SiteEntry = Entry<(typeof sitePages)[number]['entries'][number]['name']>
