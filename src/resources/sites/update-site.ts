import Type from 'typebox'
import { defaultPhpVersion, phpVersions } from '../../hosting/php/runtime.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions, events } from './actions.ts'
import { problems } from './problems.ts'
import { databaseOfSite, requireVersion, runtimesOfHost } from './runtime.store.ts'
import { presentSite, SiteSchema } from './show/present-site.ts'
import { changeSite } from './site.store.ts'
import { environmentTypes, type ListedSite } from './site.ts'
import { configureSite } from './switches/configure-site.job.ts'

const SiteUpdate = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Display name', examples: ['My first site'] }),
    ),
    php_version: Type.Optional(oneOf(phpVersions, { examples: [defaultPhpVersion] })),
    wp_environment_type: Type.Optional(
      oneOf(environmentTypes, {
        description:
          'Applied by a background operation. Unless the type is `production`, all responses of the site tell search engines not to index it (`X-Robots-Tag`).',
      }),
    ),
  },
  { title: 'SiteUpdate' },
)

export const updateSite = endpoint({
  id: 'updateSite',
  method: 'PUT',
  path: '/v1/sites/{id}',
  summary: 'Update a site',
  description: "Send at least one field. A new PHP version takes effect with the visitor's next request.",
  access: {
    site: 'read the site',
    fields: {
      name: 'rename the site',
      php_version: 'change the PHP version',
      wp_environment_type: 'manage performance',
    },
  },
  params: Type.Object({ id: SiteId }),
  body: SiteUpdate,
  response: SiteSchema,
  starts: true,
  problems: [problems.php_version_not_there],

  async handle(context, { body }) {
    const { tx, site, config, now } = context
    const change = { displayName: body.name, phpVersion: body.php_version, environmentType: body.wp_environment_type }
    const changed: ListedSite = { ...site, ...withoutUndefined(change) }
    const messages = changesBetween(site, changed)
    if (Object.keys(withoutUndefined(change)).length === 0)
      throw invalidInput(['Send at least one of name, php_version, wp_environment_type'])
    if (messages.length === 0) return presentSite(site, config, now)
    const hasNewPhp = changed.phpVersion !== site.phpVersion
    if (hasNewPhp)
      requireVersion(await runtimesOfHost(tx, site.hostId), changed.phpVersion, await databaseOfSite(tx, site.id))
    await changeSite(tx, site.id, change, now)
    const hasNewType = changed.environmentType !== site.environmentType
    const told = [
      ...(hasNewPhp ? [{ type: events.php_version_changed, data: { version: changed.phpVersion } }] : []),
      ...(hasNewType ? [{ type: events.wp_environment_type, data: { type: changed.environmentType } }] : []),
    ]
    await context.record({ action: actions['site.updated'], message: messages.join(', '), event: told })
    if (hasNewType) await context.start(configureSite, { siteId: site.id })
    return presentSite(changed, config, now)
  },
})

function changesBetween(before: ListedSite, after: ListedSite): string[] {
  const changes: [string, string, string][] = [
    ['display name', before.displayName, after.displayName],
    ['PHP version', before.phpVersion, after.phpVersion],
    ['environment type', before.environmentType, after.environmentType],
  ]
  return changes
    .filter(([, from, to]) => from !== to)
    .map(([what, from, to]) => `Changed ${what} from ${from} to ${to}`)
}

const withoutUndefined = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>
  }
