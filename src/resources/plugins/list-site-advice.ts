import Type from 'typebox'
import { defaultPhpVersion, type PhpVersion, phpVersions } from '../../hosting/php/runtime.ts'
import { isOnServer } from '../../hosting/site-database/database-kind.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { databaseOfSite, runtimesOfHost, shopAdvice, versionForShop } from '../sites/public.ts'
import { storedPlugins } from './plugin.store.ts'
import { isActiveShop } from './plugin.ts'

const SiteAdvice = Type.Object(
  {
    code: oneOf(['shop_on_embedded_database'], { examples: ['shop_on_embedded_database'] }),
    message: Type.String({ description: 'What to change, and why', examples: [shopAdvice(defaultPhpVersion)] }),
    phpVersion: oneOf(phpVersions, {
      description: 'PHP version of the site after the move. The current version, if it runs natively',
      examples: [defaultPhpVersion],
    }),
  },
  { title: 'SiteAdvice' },
)

export const listSiteAdvice = endpoint({
  id: 'listSiteAdvice',
  method: 'GET',
  path: '/v1/sites/{id}/advice',
  summary: 'List advice for a site',
  description:
    'An addition of Stead. Returns what the owner of the site should change. Currently, there is one type of advice: a WooCommerce shop uses the embedded ' +
    'database on a host with MariaDB. The advice is based on the plugins of the last check.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(SiteAdvice),

  async handle({ tx, site }) {
    const isShop = site.install === 'woocommerce' || (await storedPlugins(tx, site.id)).some(isActiveShop)
    if (!isShop || isOnServer(await databaseOfSite(tx, site.id))) return []
    const { databases } = await runtimesOfHost(tx, site.hostId)
    const phpVersion = versionForShop((version) => databases[version], site.phpVersion as PhpVersion)
    return phpVersion
      ? [{ code: 'shop_on_embedded_database' as const, message: shopAdvice(phpVersion), phpVersion }]
      : []
  },
})
