import Type from 'typebox'
import { defaultPhpVersion, phpVersions } from '../../../hosting/php/runtime.ts'
import { runtimeNames } from '../../../hosting/php/runtime-kinds.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { problems } from '../problems.ts'
import { requestMove } from './request-move.ts'

const Move = Type.Object(
  {
    runtime: oneOf(runtimeNames, {
      description:
        "`native`: php-fpm on the site's host with MariaDB. `wasm`: PHP in WebAssembly with an SQLite file in the site directory",
      examples: ['wasm'],
    }),
    php_version: Type.Optional(
      oneOf(phpVersions, {
        description: 'PHP version after the move. Default: the current version',
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
    'Moves a site between native PHP with MariaDB and PHP in WebAssembly with SQLite. The site is closed during the move (503 with `Retry-After`). Stead copies the database, ' +
    'compares it table by table, and opens the site when WordPress responds. If anything fails, the site stays on its current runtime. Follow the progress with the operation in `Operation-Id`. To move the site back, send the other runtime.',
  access: { site: 'change the PHP version' },
  params: Type.Object({ id: SiteId }),
  body: Move,
  response: Moving,
  starts: true,
  problems: [problems.site_not_live, problems.runtime_not_there],

  async handle(context, { body }) {
    const { tx, site } = context
    const { runtime, php_version } = body
    const { phpVersion } = await requestMove(tx, site, { runtime, phpVersion: php_version }, context)
    return { runtime, phpVersion }
  },
})
