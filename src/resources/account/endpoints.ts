import { getAccount } from './get-account.ts'
import { listAddons } from './list-addons.ts'
import { listAttachedAddons } from './list-attached-addons.ts'
import { updateAccount } from './update-account.ts'
import { updateAddons } from './update-addons.ts'

/** In the order of the API description. */
export const endpoints = [getAccount, updateAccount, listAddons, listAttachedAddons, updateAddons]
