import Type from 'typebox'
import { defaultPhpVersion, phpVersions } from '../../hosting/php/runtime.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { orderMove } from './order-move.ts'
import { problems } from './problems.ts'

const Move = Type.Object(
  {
    runtime: oneOf(['native', 'wasm'], {
      description:
        "`native`: php-fpm of the site's host, and MariaDB; `wasm`: PHP in WebAssembly, and an SQLite file in the site's folder",
      examples: ['wasm'],
    }),
    php_version: Type.Optional(
      oneOf(phpVersions, {
        description: 'What it has from then on; default: what it has',
        examples: [defaultPhpVersion],
      }),
    ),
  },
  { title: 'Move' },
)
const Moving = Type.Object(
  { runtime: Type.String({ examples: ['wasm'] }), phpVersion: Type.String({ examples: [defaultPhpVersion] }) },
  { title: 'Moving' },
)

export const moveSite = endpoint({
  id: 'moveSite',
  method: 'PUT',
  path: '/v1/sites/{id}/runtime',
  summary: 'Move a site to another runtime',
  description:
    'Between native PHP with MariaDB, and PHP in WebAssembly with SQLite. The site is closed while it is moved (503 with `Retry-After`): its database is copied and ' +
    'compared table by table, and the site is opened when its WordPress answers; else it stays what it was. Progress: `Operation-Id`. Back is the same the other way round.',
  access: { site: 'change the PHP version' },
  params: Type.Object({ id: SiteId }),
  body: Move,
  response: Moving,
  starts: true,
  problems: [problems.site_not_live, problems.runtime_not_there],

  async handle(context, { body }) {
    const { tx, site } = context
    const { runtime, php_version } = body
    const { phpVersion } = await orderMove(tx, site, { runtime, phpVersion: php_version }, context)
    return { runtime, phpVersion }
  },
})
