import { getSafeUpdateBatch } from './batch/get-safe-update-batch.ts'
import { listAllSafeUpdates } from './batch/list-all-safe-updates.ts'
import { startSafeUpdateBatch } from './batch/start-safe-update-batch.ts'
import { getSafeUpdate } from './get-safe-update.ts'
import { getSafeUpdatePicture } from './get-safe-update-picture.ts'
import { getWordpressUpdate } from './get-wordpress-update.ts'
import { listSafeUpdates } from './list-safe-updates.ts'
import { getDefaultUpdatePolicy } from './policy/get-default-update-policy.ts'
import { getUpdatePolicy } from './policy/get-update-policy.ts'
import { setDefaultUpdatePolicy } from './policy/set-default-update-policy.ts'
import { setUpdatePolicy } from './policy/set-update-policy.ts'
import { getSafeUpdateSettings } from './settings/get-safe-update-settings.ts'
import { updateSafeUpdateSettings } from './settings/update-safe-update-settings.ts'
import { startSafeUpdate } from './start-safe-update.ts'

/** In the order of the API description. All are additions. */
export const endpoints = [
  listSafeUpdates,
  startSafeUpdate,
  getSafeUpdate,
  getSafeUpdatePicture,
  getSafeUpdateSettings,
  updateSafeUpdateSettings,
  getWordpressUpdate,
  listAllSafeUpdates,
  startSafeUpdateBatch,
  getSafeUpdateBatch,
  getUpdatePolicy,
  setUpdatePolicy,
  getDefaultUpdatePolicy,
  setDefaultUpdatePolicy,
]
