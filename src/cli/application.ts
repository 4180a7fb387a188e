import type { Tx } from '../platform/db/database.ts'
import { timestamp } from '../platform/http/schemas.ts'
import {
  findAccountByEmail,
  listApplications,
  makeApplication,
  normalEmail,
  revokeApplication,
} from '../resources/account/account.ts'
import type { CommandCall } from './arguments.ts'
import { needed, onRecords, optional } from './ground.ts'
import { CommandError, printOne, printRows } from './output.ts'

/** `stead application create|list|revoke` */
export async function run(call: CommandCall): Promise<number> {
  const asJson = call.flags.json === true
  return onRecords(call, async ({ database }) => {
    switch (call.words[0]) {
      case 'create': {
        const made = await database.transaction(async (tx) => {
          const account = await accountNamed(tx, needed(call, 'account'))
          const isOwner = call.flags.owner === true
          return makeApplication(tx, { accountId: account.id, name: needed(call, 'name'), isOwner, now: Date.now() })
        })
        // the secret is shown this once
        return printOne({ client_id: made.clientId, client_secret: made.clientSecret, owner: made.isOwner }, asJson)
      }
      case 'list': {
        const email = optional(call, 'account')
        const account = email ? await accountNamed(database.read, email) : undefined
        const applications = await listApplications(database.read, account?.id)
        const rows = applications.map((each) => ({
          client_id: each.clientId,
          account_id: each.accountId,
          name: each.name,
          owner: each.isOwner,
          created: timestamp(each.createdAt),
          revoked: each.revokedAt === null ? null : timestamp(each.revokedAt),
        }))
        return printRows(rows, asJson)
      }
      case 'revoke': {
        const clientId = needed(call, 'client-id')
        const revoked = await database.transaction((tx) => revokeApplication(tx, clientId, Date.now()))
        if (!revoked)
          throw new CommandError(`No active application has the id ${clientId}. See: stead application list`)
        return printOne({ client_id: clientId, revoked: true }, asJson)
      }
      default:
        throw new CommandError('stead application create, list or revoke. See: stead help')
    }
  })
}

async function accountNamed(tx: Tx, email: string) {
  const account = await findAccountByEmail(tx, normalEmail(email))
  if (!account) throw new CommandError(`No account has the address ${email}. See: stead account list`)
  return account
}
