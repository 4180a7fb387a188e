import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { LOGIN_PATH, LOGIN_TOKEN_FIELD } from '../../hosting/web-server/login-links.ts'
import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { findAccount, findAccountByEmail, normalEmail } from '../account/public.ts'
import { siteUrl } from '../certificates/public.ts'
import { findMembership } from '../collaborators/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireLive, problems as siteProblems, type VisibleSite } from '../sites/public.ts'
import { actions } from './actions.ts'
import { insertLoginLink } from './login-link.store.ts'
import { problems } from './problems.ts'

const VALID_MS = 30_000

export const createLoginLink = endpoint({
  id: 'createOneTimeLogin',
  method: 'POST',
  path: '/v1/sites/{site_id}/one_time_login',
  summary: 'Create a one-time login link for WordPress',
  description:
    'Creates the link for the owner of the site or a collaborator with the role `wp_access`. The link works once within 30 seconds, in a browser whose ' +
    '`User-Agent` exactly matches the request. Otherwise, the browser gets the log-in page with the reason.',
  access: { site: 'administer the CMS' },
  params: Type.Object({ site_id: SiteId }),
  body: Type.Object(
    {
      email: Type.String({
        maxLength: 254,
        examples: ['colleague@example.com'],
        description: 'E-mail address of the person to log in',
      }),
      user_agent: Type.String({
        minLength: 1,
        maxLength: 1000,
        pattern: '^[\\u0020-\\u007e]+$',
        examples: ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
        description: '`User-Agent` header of the browser that will open the link',
      }),
    },
    { additionalProperties: false },
  ),
  response: Type.Object(
    { url: Type.String({ examples: [`http://my-first-site.example.com${LOGIN_PATH}?${LOGIN_TOKEN_FIELD}=…`] }) },
    { title: 'LoginLink' },
  ),
  problems: [problems.one_time_login_off, problems.one_time_login_stranger, siteProblems.site_not_live],

  async handle(context, { body }) {
    const { tx, site, now, config, caller } = context
    requireLive(site)
    if (!(await findAccount(tx, site.accountId))?.hasOneTimeLogin) throw new Problem(problems.one_time_login_off, {})
    const person = await personOf(tx, site, body.email)
    if (person === undefined) throw new Problem(problems.one_time_login_stranger, { email: body.email })
    const token = randomBytes(32).toString('base64url')
    const link = {
      ...{ siteId: site.id, madeById: caller.accountId, ...person },
      ...{ token, userAgent: body.user_agent, expiresAt: now + VALID_MS },
    }
    await insertLoginLink(tx, link, now)
    await context.record({
      action: actions['one_time_login.created'],
      message: `Created a one-time login link to WordPress for ${body.email}, as ${person.login}`,
    })
    return { url: `${await siteUrl(tx, site, { config, now })}${LOGIN_PATH}?${LOGIN_TOKEN_FIELD}=${token}` }
  },
})

/** The WordPress user that belongs to a person. */
async function personOf(
  tx: Tx,
  site: VisibleSite,
  email: string,
): Promise<{ accountId: number; login: string } | undefined> {
  const account = await findAccountByEmail(tx, normalEmail(email))
  if (!account) return undefined
  const accountId = account.id
  if (accountId === site.accountId) return { accountId, login: site.adminUsername }
  const membership = await findMembership(tx, site.id, account.id)
  return membership?.roles.includes('wp_access') ? { accountId, login: membership.wpUsername } : undefined
}
