/** Opens databases with the login of a host. */

import { identifyInstallation } from '../../src/hosting/identity/identity.store.ts'
import { type Database, openDatabase } from '../../src/platform/db/database.ts'
import { createGroup, createLogin } from '../../src/platform/db/logins/logins.store.ts'
import { grantLoginsIn } from '../../src/roles/logins/grant-logins.ts'
import type { TestApi } from './api.ts'

/** Returns the address of the database of an API with the login of a host. The host may not exist yet. */
export async function loginOfHost({ database, logs, connection }: TestApi, name: string): Promise<string> {
  await logs.maintain(Date.now())
  const { user, password } = await database.transaction(async (tx) => {
    await identifyInstallation(tx, undefined, Date.now())
    await createGroup(tx, 'host')
    await grantLoginsIn(tx)
    return createLogin(tx, { role: 'host', name }, Date.now())
  })
  const url = new URL(connection.url as string)
  return Object.assign(url, { username: user, password }).href
}

/** Opens the database of an API, which is on PostgreSQL, with the login of a host. */
export const openAsHost = async (api: TestApi, name: string): Promise<Database> =>
  openDatabase({ url: await loginOfHost(api, name), file: '' })
