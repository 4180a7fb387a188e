import { getSafeUpdate } from './get-safe-update.ts'
import { getSafeUpdatePicture } from './get-safe-update-picture.ts'
import { listSafeUpdates } from './list-safe-updates.ts'
import { orderSafeUpdate } from './order-safe-update.ts'

/** In the order of the API description. All are additions. */
export const endpoints = [listSafeUpdates, orderSafeUpdate, getSafeUpdate, getSafeUpdatePicture]
