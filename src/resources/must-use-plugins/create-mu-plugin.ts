import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { installMuPlugin } from './bring-mu-plugin.job.ts'
import { countMuPlugins, hasSlug, insertMuPlugin } from './mu-plugin.store.ts'
import { ChangedMuPluginSchema, isReserved, MOST_MU_PLUGINS, presentChanged, slugOfPath } from './mu-plugin.ts'
import { problems } from './problems.ts'
import { startWork } from './start-work.ts'

export const createMuPlugin = endpoint({
  id: 'createMuPlugin',
  method: 'POST',
  path: '/v1/mu-plugins',
  summary: 'Add a must-use plugin',
  description:
    'Fetches one PHP file from its URL, checks its syntax with PHP, and installs it on all sites of your account (`existing_sites`) and on sites that you ' +
    'create later (`future_sites`). The `results` of the operation contain the outcome for each site. If Stead cannot fetch the file or PHP cannot ' +
    'parse it, no site changes and the operation contains the reason. To try again, use `PUT`.',
  access: { account: 'own' },
  body: Type.Object({
    path: Type.String({
      description: 'Public https URL of one .php file',
      minLength: 1,
      maxLength: 2000,
      examples: ['https://plugins.example.com/agency-tools.php'],
    }),
    existing_sites: Type.Boolean({ examples: [true] }),
    future_sites: Type.Boolean({ examples: [true] }),
  }),
  response: ChangedMuPluginSchema,
  starts: true,
  problems: [
    problems.mu_plugin_exists,
    problems.mu_plugin_name_reserved,
    problems.mu_plugin_limit_reached,
    problems.no_host_yet,
  ],

  async handle(context, { body }) {
    const { tx, caller, config, now } = context
    const { accountId } = caller
    const path = body.path.trim()
    const named = slugOfPath(path, { allowHttp: config.allowPrivateFetch })
    if ('fault' in named) throw invalidInput([named.fault])
    const { slug } = named
    if (isReserved(slug)) throw new Problem(problems.mu_plugin_name_reserved, { slug })
    await lockForUpdate(tx, 'accounts', accountId)
    if (await hasSlug(tx, accountId, slug)) throw new Problem(problems.mu_plugin_exists, { slug })
    if ((await countMuPlugins(tx, accountId)) >= MOST_MU_PLUGINS)
      throw new Problem(problems.mu_plugin_limit_reached, { limit: MOST_MU_PLUGINS })
    const { existing_sites: existing, future_sites: future } = body
    const plugin = await insertMuPlugin(tx, { accountId, path, slug, existing, future, now })
    await startWork(context, plugin, installMuPlugin)
    await context.record({ action: actions['mu_plugin.created'], message: `Added the must-use plugin ${slug}` })
    return presentChanged(plugin)
  },
})
