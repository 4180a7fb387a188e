import { timestamp } from '../platform/http/schemas.ts'
import { allApplications, endApplication } from '../resources/account/account.store.ts'
import { makeApplication } from '../resources/account/account.ts'
import type { ControlDatabaseKey } from '../roles/process-context.ts'
import { accountNamed } from './account.ts'
import type { Call } from './command.ts'
import { CommandError, printOne, printRows } from './output.ts'
import { withControlDatabase } from './with-control-database.ts'

interface CreateFlags {
  readonly account: string
  readonly name: string
  readonly owner: boolean
}

/** Runs `stead application create`. */
export async function create({ config, flags }: Call<CreateFlags, ControlDatabaseKey>): Promise<void> {
  const { name, owner: isOwner } = flags
  return withControlDatabase(config, async ({ database }) => {
    const made = await database.transaction(async (tx) => {
      const account = await accountNamed(tx, flags.account)
      return makeApplication(tx, { accountId: account.id, name, isOwner, now: Date.now() })
    })
    // The secret is shown only this once.
    printOne({ client_id: made.clientId, client_secret: made.clientSecret, owner: made.isOwner }, flags.json)
  })
}

/** Runs `stead application list`. */
export async function list({
  config,
  flags,
}: Call<{ account: string | undefined }, ControlDatabaseKey>): Promise<void> {
  return withControlDatabase(config, async ({ database }) => {
    const account = flags.account ? await accountNamed(database.read, flags.account) : undefined
    const applications = await allApplications(database.read, account?.id)
    const rows = applications.map((each) => ({
      client_id: each.clientId,
      account_id: each.accountId,
      name: each.name,
      owner: each.isOwner,
      created: timestamp(each.createdAt),
      revoked: each.revokedAt === null ? null : timestamp(each.revokedAt),
    }))
    printRows(rows, flags.json)
  })
}

/** Runs `stead application revoke`. */
export async function revoke({ config, flags }: Call<{ 'client-id': string }, ControlDatabaseKey>): Promise<void> {
  const clientId = flags['client-id']
  return withControlDatabase(config, async ({ database }) => {
    const revoked = await database.transaction((tx) => endApplication(tx, clientId, Date.now()))
    if (!revoked)
      throw new CommandError(
        `No active application has the id ${clientId}. To list applications, run stead application list`,
      )
    printOne({ client_id: clientId, revoked: true }, flags.json)
  })
}
