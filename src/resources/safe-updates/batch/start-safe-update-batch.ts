import Type from 'typebox'
import { lockForUpdate } from '../../../platform/db/database.ts'
import { reply } from '../../../platform/http/endpoint.ts'
import { invalidInput, Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { sourceOfRequest } from '../../kit/source-of-request.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { SafeUpdateWish } from '../start-safe-update.ts'
import { beginBatch, countOpenBatches } from './batch.store.ts'
import { MOST_OPEN, MOST_SITES } from './batch.ts'
import { updateManySafelyJob } from './update-many-safely.job.ts'

export const startSafeUpdateBatch = endpoint({
  id: 'startSafeUpdateBatch',
  method: 'POST',
  path: '/v1/safe-updates',
  summary: 'Update plugins and themes of many sites safely',
  description:
    'An addition of Stead. Starts an operation that updates each site safely, one on each host at a time. Each site has an operation of its own. ' +
    'Named plugins and themes are updated on the sites that have them. Sites that cannot be updated are skipped, with a reason. ' +
    'The operation fails if the update of a site was undone or failed. A retry begins again with these sites. A cancellation lets updates finish that have begun. ' +
    'Use `-1` in `siteIds` for all sites where you have the required roles.',
  access: { sites: ['manage plugins', 'change many sites at once'], all: 'capable' },
  body: Type.Object(
    {
      siteIds: Type.Array(Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] }), {
        minItems: 1,
        maxItems: MOST_SITES,
        description: 'Sites to update. `-1`: all',
      }),
      ...SafeUpdateWish,
    },
    { title: 'SafeUpdateBatchOrder' },
  ),
  response: Nothing,
  starts: true,
  problems: [problems.too_many_batches],

  async handle(context, { body }) {
    const { tx, caller, request, now } = context
    const { all = false, plugins = [], themes = [], core } = body
    if (!all && plugins.length + themes.length === 0 && core === undefined)
      throw invalidInput(['plugins: name plugins or themes, or send `all` with true, or `core`'])
    const siteIds = context.sites.map(({ id }) => id)
    if (siteIds.length === 0) return reply(null, { message: 'No site to update.' })
    if (siteIds.length > MOST_SITES) throw invalidInput([`siteIds: must name at most ${MOST_SITES} sites`])
    const { accountId } = caller
    await lockForUpdate(tx, 'accounts', accountId)
    if ((await countOpenBatches(tx, accountId)) >= MOST_OPEN)
      throw new Problem(problems.too_many_batches, { limit: MOST_OPEN })
    const wish = { all, plugins, themes, ...(core !== undefined && { core }) }
    const source = sourceOfRequest(caller, request)
    const id = await context.start(updateManySafelyJob, { ...wish, siteIds }, { source })
    await beginBatch(tx, { id, accountId, wish, siteIds, now })
    await context.record({
      action: actions['safe_updates.ordered'],
      message: `Requested the safe update of ${siteIds.length === 1 ? 'one site' : `${siteIds.length} sites`}`,
    })
    return null
  },
})
