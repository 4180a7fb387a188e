import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { deleteBatchesOfAccount } from './batch/batch.store.ts'
import { updateManySafelyJob } from './batch/update-many-safely.job.ts'
import { forgetSafeUpdates, forgetSafeUpdatesDaily } from './forget-safe-updates.job.ts'
import { problems } from './problems.ts'
import { deleteUpdatesOfSite } from './safe-update.store.ts'
import { copySafeUpdateSettings } from './settings/safe-update-settings.store.ts'
import { updateSafelyJob } from './update-safely.job.ts'

export const safeUpdates = resource({
  tag: { name: 'Safe-updates', description: 'Updates that Stead compares, and undoes if a page is worse' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [updateSafelyJob], control: [updateManySafelyJob, forgetSafeUpdates] },
  schedules: [forgetSafeUpdatesDaily],
  siteHooks: { ordered: copySafeUpdateSettings, forgotten: deleteUpdatesOfSite },
  accountHooks: { forgotten: (tx, { accountId }) => deleteBatchesOfAccount(tx, accountId) },
  problems,
  actions,
  events,
})
