import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { changeImport, countStaged, insertImport, stagedImportOf } from './import.store.ts'
import { ImportSchema, MOST_SOURCES, MOST_STAGED, presentImport, STAGED_MS } from './import.ts'
import { inspectImport } from './inspect-import.job.ts'
import { NewImportPlugin, NewImportSource, takePlugin, takeSource } from './old-site/old-site-source.ts'
import { problems } from './problems.ts'

const Url = Type.String({ minLength: 1, maxLength: 2000, examples: ['https://old.example.com/backup.wpress'] })

const NewUpload = Type.Object(
  {
    name: Type.String({ pattern: '^(?!\\.{1,2}$)[^/\\\\\\x00-\\x1f\\x7f]{1,255}$', examples: ['backup.wpress'] }),
    bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [81_920_000] }),
  },
  { title: 'NewImportUpload' },
)

export const createImport = endpoint({
  id: 'createImport',
  method: 'POST',
  path: '/v1/sites/{id}/imports',
  summary: 'Import a site from an archive',
  description:
    'Imports a site of another host from one archive, or from an archive of its files and a dump of its database. ' +
    'Stead reads `.zip`, `.tar`, `.tar.gz`, `.wpress` (All-in-One WP Migration), sets of UpdraftPlus, archives of Duplicator (`.zip` or `.daf`), and dumps (`.sql` or `.sql.gz`). ' +
    'Name the https addresses of its files (`urls`), or upload them (`files`, then `PUT /v1/sites/{site_id}/imports/{import_id}/uploads/{number}`). ' +
    'Or, as `source`, from the running old site by SSH: its `wp-content` and a dump of its database. The old site does not change. ' +
    'Without SSH, as `plugin`: `GET /v1/sites/{site_id}/imports/{import_id}/plugin` returns a plugin for the old site, and `POST /v1/sites/{site_id}/imports/{import_id}/fetch` fetches the site when the plugin is active there. ' +
    'Stead first fetches and inspects it, without changes to the site: `GET /v1/sites/{site_id}/imports/{import_id}` shows the plan. ' +
    'Then `POST /v1/sites/{site_id}/imports/{import_id}/start` replaces `wp-content` and the database of the site; with `start`, this happens automatically if the plan has no blockers. ' +
    'Staged data is removed after 24 hours. A site has one import at a time.',
  access: { site: 'restore the site' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object(
    {
      urls: Type.Optional(
        Type.Array(Url, {
          minItems: 1,
          maxItems: MOST_SOURCES,
          examples: [['https://old.example.com/backup.wpress']],
          description: 'https addresses of the archive; several for a set of UpdraftPlus, or for files and a dump',
        }),
      ),
      files: Type.Optional(
        Type.Array(NewUpload, { minItems: 1, maxItems: MOST_SOURCES, description: 'Files that you upload instead' }),
      ),
      source: Type.Optional(NewImportSource),
      plugin: Type.Optional(NewImportPlugin),
      start: Type.Optional(
        Type.Boolean({ description: 'Start automatically if the plan has no blockers', examples: [false] }),
      ),
    },
    { title: 'NewImport' },
  ),
  response: ImportSchema,
  status: 201,
  starts: true,
  problems: [
    problems.import_url_refused,
    problems.import_too_large,
    problems.import_source_refused,
    problems.import_exists,
    problems.import_limit_reached,
    siteProblems.site_not_live,
  ],

  async handle(context, { body }) {
    const { tx, site, caller, config, sealer, now } = context
    requireInstalled(site)
    const { urls = [], files = [], source, plugin, start = false } = body
    const given = [urls.length > 0, files.length > 0, source !== undefined, plugin !== undefined].filter(Boolean).length
    if (given !== 1) throw invalidInput(['urls: provide one of `urls`, `files`, `source`, and `plugin`'])
    for (const url of urls) requireUrl(url, config.allowPrivateFetch)
    requireSpace(files, config.importMaxMb)
    const live = plugin
      ? takePlugin(plugin, { sealer, allowsHttp: config.allowPrivateFetch })
      : source && (await takeSource(source, sealer))
    const other = await stagedImportOf(tx, site.id)
    if (other) throw new Problem(problems.import_exists, { import: other.id, state: other.state })
    await lockForUpdate(tx, 'accounts', site.accountId)
    if ((await countStaged(tx, site.accountId)) >= MOST_STAGED)
      throw new Problem(problems.import_limit_reached, { limit: MOST_STAGED })
    const made = await insertImport(tx, {
      ...{ siteId: site.id, sources: urls, starts: start },
      state: files.length > 0 ? 'uploading' : plugin ? 'waiting' : 'inspecting',
      uploads: files.length > 0 ? files.map((file, index) => ({ number: index + 1, ...file, received: 0 })) : null,
      ...live,
      ...{ createdAt: now, expiresAt: now + STAGED_MS },
    })
    const sources = live
      ? [live.live.type === 'plugin' ? live.live.address : `ssh://${live.live.host}:${live.live.port}`]
      : [...urls.map(shown), ...files.map(({ name }) => name)]
    await context.record({
      action: actions['import.created'],
      message: `Created import ${made.id} from ${sources.join(', ')}`,
    })
    if (made.state !== 'inspecting') return presentImport(made, [])
    const order = { siteId: site.id, importId: made.id, askedById: caller.accountId }
    const operationId = await context.start(inspectImport, order)
    await changeImport(tx, made.id, { operationId })
    return presentImport({ ...made, operationId }, [])
  },
})

/** @throws Problem `import_too_large` */
function requireSpace(files: readonly { bytes: number }[], mostMb: number): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes > mostMb * 2 ** 20)
    throw new Problem(problems.import_too_large, { size: Math.ceil(bytes / 2 ** 20), limit: mostMb })
}

/** @throws Problem `import_url_refused` */
function requireUrl(address: string, allowsHttp: boolean): void {
  const fault = faultOf(URL.parse(address), allowsHttp)
  if (fault) throw new Problem(problems.import_url_refused, { fault: `${shown(address)} ${fault}` })
}

function faultOf(url: URL | null, allowsHttp: boolean): string | undefined {
  if (!url) return 'is not a valid address'
  if (url.protocol !== 'https:' && !(allowsHttp && url.protocol === 'http:')) return 'is not an https address'
  return url.username || url.password ? 'has a user name or a password in it' : undefined
}

/** Returns an address without parts that may be secret. */
const shown = (address: string): string => {
  const url = URL.parse(address)
  return url ? `${url.protocol}//${url.host}${url.pathname}`.slice(0, 200) : address.slice(0, 100)
}
