import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { hostFacts } from '../../hosting/host.store.ts'
import { DATABASE_ADMIN_PATH, DATABASE_TOKEN_FIELD } from '../../hosting/web-server/database-admin.ts'
import { Problem } from '../../platform/http/problem.ts'
import { siteUrl } from '../certificates/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireLive, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { insertDatabaseLink } from './link.store.ts'
import { problems } from './problems.ts'

const VALID_MS = 5 * 60_000

export const createLink = endpoint({
  id: 'getDatabaseAdminUrl',
  method: 'GET',
  path: '/v1/sites/{site_id}/cms/dbadmin',
  summary: "Create a link to the site's database",
  description:
    'Creates a link that opens Adminer with the database of this site only. The link works once within 5 minutes. The browser that opens it gets a session of one hour. ' +
    'Create the link right before you use it.',
  access: { site: 'administer the database' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.String({
    examples: [`http://my-first-site.example.com${DATABASE_ADMIN_PATH}?${DATABASE_TOKEN_FIELD}=…`],
  }),
  writes: true,
  problems: [problems.no_database_admin, siteProblems.site_not_live],

  async handle(context) {
    const { tx, site, now, config, caller } = context
    requireLive(site)
    const facts = site.hostId === null ? undefined : await hostFacts(tx, site.hostId)
    if (facts?.hasDatabaseAdmin !== true) throw new Problem(problems.no_database_admin, {})
    const token = randomBytes(32).toString('base64url')
    await insertDatabaseLink(tx, { siteId: site.id, accountId: caller.accountId, token, expiresAt: now + VALID_MS })
    await context.record({
      action: actions['wordpress.phpmyadmin_ordered'],
      message: `Created a link to the database for ${caller.accountEmail}`,
    })
    return `${await siteUrl(tx, site, { config, now })}${DATABASE_ADMIN_PATH}?${DATABASE_TOKEN_FIELD}=${token}`
  },
})
