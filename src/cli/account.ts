import { findAccountByEmail, listAccounts, makeAccount, normalEmail, setPlan } from '../resources/account/account.ts'
import { firstPlan, planNames } from '../resources/account/plans.ts'
import type { CommandCall } from './arguments.ts'
import { needed, onGround, optional } from './ground.ts'
import { CommandError, printOne, printRows } from './output.ts'

/** `stead account create|list|set-plan` */
export async function run(call: CommandCall): Promise<number> {
  const asJson = call.flags.json === true
  return onGround(call, async ({ database }) => {
    switch (call.words[0]) {
      case 'create': {
        const email = needed(call, 'email')
        if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new CommandError('--email must be an e-mail address')
        const plan = knownPlan(optional(call, 'plan') ?? firstPlan)
        const name = optional(call, 'name')
        const account = await database.transaction(async (tx) => {
          if (await findAccountByEmail(tx, normalEmail(email)))
            throw new CommandError(`${email} has an account already`)
          return makeAccount(tx, { email, plan, now: Date.now(), ...(name ? { name } : {}) })
        })
        return printOne({ id: account.id, email: account.email, name: account.name, plan: account.plan }, asJson)
      }
      case 'list': {
        const accounts = await listAccounts(database.read)
        return printRows(
          accounts.map(({ id, email, name, plan }) => ({ id, email, name, plan })),
          asJson,
        )
      }
      case 'set-plan': {
        const email = normalEmail(needed(call, 'email'))
        const plan = knownPlan(needed(call, 'plan'))
        await database.transaction(async (tx) => {
          const account = await findAccountByEmail(tx, email)
          if (!account) throw new CommandError(`No account has the address ${email}. See: stead account list`)
          await setPlan(tx, account.id, plan)
        })
        return printOne({ email, plan }, asJson)
      }
      default:
        throw new CommandError('stead account create, list or set-plan. See: stead help')
    }
  })
}

function knownPlan(plan: string): string {
  if (!planNames.includes(plan)) throw new CommandError(`--plan must be one of: ${planNames.join(', ')}`)
  return plan
}
