import {
  createGroup,
  createLogin,
  isLoginRole,
  type LoginOwner,
  LoginsRefused,
} from '../../platform/db/logins/logins.store.ts'
import type { ProcessContext } from '../process-context.ts'
import { grantLoginsIn } from './grant-logins.ts'

type NeededContext = Pick<ProcessContext, 'database' | 'log' | 'logs'> & {
  readonly config: Pick<ProcessContext['config'], 'databaseUrl'>
}

/**
 * Creates the login of a machine that joins, with the rights of its role.
 * @returns the address of the database with it; undefined if this role or this database has no such logins
 */
export async function openLogin(
  { config, database, log, logs }: NeededContext,
  { role, name }: LoginOwner,
): Promise<string | undefined> {
  if (!config.databaseUrl || !isLoginRole(role)) return undefined
  // Edges may not create the tables that they write to.
  await logs.maintain(Date.now())
  try {
    const { user, password } = await database.transaction(async (tx) => {
      await createGroup(tx, role)
      await grantLoginsIn(tx)
      return createLogin(tx, { role, name }, Date.now())
    })
    const url = new URL(config.databaseUrl)
    url.username = user
    url.password = password
    return url.href
  } catch (error) {
    if (!(error instanceof LoginsRefused)) throw error
    log.warn(
      { role, name, reason: error.message },
      'this machine has no login of its own and needs that of the control',
    )
    return undefined
  }
}
