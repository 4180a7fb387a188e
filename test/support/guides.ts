/** The folder of the guides. */
export const GUIDES = 'docs/guides'

/** Pages whose commands `test/e2e/guides.test.ts` runs, in this order. */
export const ranGuides = [
  'move-a-site-in',
  'backups',
  'staging',
  'domains',
  'many-sites',
  'safe-updates',
  'vulnerabilities',
  'monitoring',
  'alerts',
  'client-reports',
  'people',
]

/**
 * Pages that others try: `behind-a-proxy.test.ts` the configurations, `test/machines/guide.test.ts` the one of
 * several machines.
 */
export const otherGuides = ['README', 'htaccess', 'behind-a-proxy', 'many-machines']
