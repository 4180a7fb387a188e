import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { hostFacts } from '../../hosting/host.store.ts'
import { DATABASE_ADMIN_PATH, TOKEN_FIELD } from '../../hosting/web-server/database-admin.ts'
import { Problem } from '../../platform/http/problem.ts'
import { siteUrl } from '../certificates/certificate.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandLive } from '../sites/site.ts'
import { actions } from './actions.ts'
import { insertLink } from './link.store.ts'
import { problems } from './problems.ts'

const VALID_MS = 5 * 60_000

export const createLink = endpoint({
  id: 'getDatabaseAdminUrl',
  method: 'GET',
  path: '/v1/sites/{site_id}/cms/dbadmin',
  summary: "Make a link that opens the site's database",
  description:
    'Opens Adminer on the database of this site, and on no other. The link is good for 5 minutes and for one browser: the first that opens it has a session of one hour, ' +
    'nobody else gets in by it. Ask for it only when it is about to be used.',
  access: { site: 'administer the database' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.String({ examples: [`http://my-first-site.example.com${DATABASE_ADMIN_PATH}?${TOKEN_FIELD}=…`] }),
  writes: true,
  problems: [problems.no_database_admin, siteProblems.site_not_live],

  async handle(context) {
    const { tx, site, now, config, caller } = context
    demandLive(site)
    const facts = site.hostId === null ? undefined : await hostFacts(tx, site.hostId)
    if (facts?.hasDatabaseAdmin !== true) throw new Problem(problems.no_database_admin, {})
    const token = randomBytes(32).toString('base64url')
    await insertLink(tx, { siteId: site.id, accountId: caller.accountId, token, expiresAt: now + VALID_MS })
    await context.record({
      action: actions['wordpress.phpmyadmin_ordered'],
      message: `Made a link for ${caller.accountEmail} that opens the database`,
    })
    return `${await siteUrl(tx, site, { config, now })}${DATABASE_ADMIN_PATH}?${TOKEN_FIELD}=${token}`
  },
})
