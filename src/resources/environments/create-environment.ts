import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { httpProblems, invalidInput, notFound, Problem } from '../../platform/http/problem.ts'
import { requireAccess } from '../access/access.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { aboutSite, type Recording } from '../kit/change.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { cloneProblems, holdVisibleSite, type ListedSite, requestClone, type Site } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { insertLink, linkOf, linksOfLive } from './environment.store.ts'
import { EnvironmentSchema, MOST_ENVIRONMENTS, presentEnvironment } from './environment.ts'
import { problems } from './problems.ts'

const NewEnvironment = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 63,
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$',
        description: 'Name of the copy. It may have letters, digits and dashes',
        examples: ['my-first-site-staging'],
      }),
    ),
    staging: Type.Optional(
      Type.Boolean({ description: 'Whether the copy is a staging site. Default: true', examples: [true] }),
    ),
    datacenter_code: Type.Optional(
      Type.String({ description: 'Of the copy. Default: the datacenter of the live site' }),
    ),
    site_id: Type.Optional(Type.Integer({ ...SiteId, description: 'Existing site to link, instead of a copy' })),
  },
  { title: 'NewEnvironment' },
)

export const createEnvironment = endpoint({
  id: 'createEnvironment',
  method: 'POST',
  path: '/v1/sites/{id}/environments',
  summary: 'Create or link an environment',
  description:
    `An addition of Stead. With \`name\`, clones the site as \`POST /v1/sites/{site_id}/clone\` does, and links the copy to it. With \`site_id\`, links an existing site of the same account, which does not change. ` +
    `A live site can have ${MOST_ENVIRONMENTS} environments. An environment belongs to one live site, and has no environments of its own. You need the same role on a site that you link.`,
  access: { site: 'clone the site' },
  params: Type.Object({ id: SiteId }),
  body: NewEnvironment,
  response: EnvironmentSchema,
  starts: true,
  problems: [
    ...cloneProblems,
    problems.environment_limit_reached,
    problems.environment_not_possible,
    authenticationProblems.forbidden,
    httpProblems.not_found,
  ],

  async handle(context, { body }) {
    const { tx, site: live, caller, config, now } = context
    const { name, site_id: siteId, ...copy } = body
    if ((name === undefined) === (siteId === undefined)) throw invalidInput(['name: provide either name or site_id'])
    if (await linkOf(tx, live.id)) throw notPossible(`${live.name} is an environment itself`)
    if ((await linksOfLive(tx, live.id)).length >= MOST_ENVIRONMENTS)
      throw new Problem(problems.environment_limit_reached, { limit: MOST_ENVIRONMENTS })
    let environment: ListedSite
    if (siteId === undefined)
      environment = await requestClone(context, live, { staging: true, ...copy, name: name as string })
    else {
      const found = await holdVisibleSite(tx, caller.accountId, siteId)
      if (!found) throw notFound()
      requireAccess('clone the site', caller, found)
      await requireLinkable(tx, live, found)
      environment = found
    }
    // Stead does not know what happened to the database of an existing site since it was a copy, if it ever was.
    const copiedAt = siteId === undefined ? now : null
    const link = await insertLink(tx, { siteId: environment.id, liveSiteId: live.id, copiedAt, now })
    await recordLink(context, live, environment)
    return presentEnvironment(environment, link, config)
  },
})

const notPossible = (reason: string) => new Problem(problems.environment_not_possible, { reason })

/** @throws Problem `environment_not_possible` */
async function requireLinkable(tx: Tx, live: Site, site: Site): Promise<void> {
  if (site.id === live.id) throw notPossible('a site cannot be its own environment')
  if (site.accountId !== live.accountId) throw notPossible('they belong to different accounts')
  if (await linkOf(tx, site.id)) throw notPossible(`${site.name} already is an environment of a site`)
  if ((await linksOfLive(tx, site.id)).length > 0) throw notPossible(`${site.name} has environments itself`)
}

async function recordLink({ record }: Pick<Recording, 'record'>, live: Site, environment: Site): Promise<void> {
  const event = { type: events.environment_linked, data: { live_site_id: live.id, environment_id: environment.id } }
  await record({
    action: actions['environment.linked'],
    message: `Linked ${environment.name} as an environment of ${live.name}`,
    event,
  })
  await record({
    action: actions['environment.linked'],
    message: `Became an environment of ${live.name}`,
    about: aboutSite(environment),
  })
}
