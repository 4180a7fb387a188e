import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { go } from '../route.ts'
import { manyUpdatesTexts as texts } from '../texts/many-updates.ts'
import type { Values } from './form.tsx'

type Order = Omit<components['schemas']['SafeUpdateBatchOrder'], 'siteIds'>

/** The address of the safe updates of all sites. */
export const UPDATES = '/plugins?tab=updates'

/** Returns a question that starts a safe update of several sites, and then shows their progress. */
export const manyUpdates = (siteIds: readonly number[], what: string, order: Order) => ({
  title: texts.question(what, siteIds.length),
  text: texts.effect,
  button: texts.update,
  isSafe: true,
  fields: [{ name: 'core', type: 'checkbox' as const, label: texts.core, hint: texts.coreIs }],
  go: async ({ core }: Values) => {
    const body = { siteIds: [...siteIds], ...order, ...(core && { core: 'latest' }) }
    const { operationId } = await ask(() => api.POST('/v1/safe-updates', { body }))
    if (operationId !== undefined) go(`${UPDATES}&batch=${operationId}`)
  },
})
