import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { deleteBatchesOfAccount } from './batch/batch.store.ts'
import { updateManySafelyJob } from './batch/update-many-safely.job.ts'
import { forgetSafeUpdates, forgetSafeUpdatesDaily } from './forget-safe-updates.job.ts'
import { planSafeUpdates, planSafeUpdatesOften } from './policy/plan-safe-updates.job.ts'
import { deletePolicyOfAccount } from './policy/policy.store.ts'
import { noteUndoneByPerson } from './policy/undone.store.ts'
import { problems } from './problems.ts'
import { deleteUpdatesOfSite } from './safe-update.store.ts'
import { copySafeUpdateSettings } from './settings/safe-update-settings.store.ts'
import { updateSafelyJob } from './update-safely.job.ts'

export const safeUpdates = resource({
  tag: { name: 'Safe-updates', description: 'Updates that Stead compares, and undoes if a page is worse' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [updateSafelyJob], control: [updateManySafelyJob, planSafeUpdates, forgetSafeUpdates] },
  schedules: [planSafeUpdatesOften, forgetSafeUpdatesDaily],
  siteHooks: { ordered: copySafeUpdateSettings, databaseReplaced: noteUndoneByPerson, forgotten: deleteUpdatesOfSite },
  accountHooks: {
    async forgotten(tx, { accountId }) {
      await deleteBatchesOfAccount(tx, accountId)
      await deletePolicyOfAccount(tx, accountId)
    },
  },
  problems,
  actions,
  events,
})
