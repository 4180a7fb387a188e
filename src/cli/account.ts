import { isMailAddress } from '../platform/mail/address.ts'
import {
  type Account,
  type AccountFacts,
  findAccountByEmail,
  listAccounts,
  makeAccount,
  normalEmail,
  setFacts,
  setPlan,
} from '../resources/account/account.ts'
import { firstPlan, planNames } from '../resources/account/plans.ts'
import type { CommandCall } from './arguments.ts'
import { needed, onRecords, optional } from './ground.ts'
import { CommandError, printOne, printRows } from './output.ts'

/** `stead account create|list|update|set-plan` */
export async function run(call: CommandCall): Promise<number> {
  const asJson = call.flags.json === true
  return onRecords(call, async ({ database }) => {
    switch (call.words[0]) {
      case 'create': {
        const email = needed(call, 'email')
        if (!isMailAddress(normalEmail(email))) throw new CommandError('--email must be an e-mail address')
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
      case 'update': {
        const email = normalEmail(needed(call, 'email'))
        const facts: AccountFacts = {
          name: optional(call, 'name'),
          organization: optional(call, 'organization'),
          phoneNumber: optional(call, 'phone'),
          isAffiliate: yesOrNo(call, 'affiliate'),
          isPreview: yesOrNo(call, 'preview'),
        }
        if (Object.values(facts).every((value) => value === undefined))
          throw new CommandError('Nothing is to be changed. See: stead help account')
        const account = await database.transaction(async (tx) => {
          const found = await findAccountByEmail(tx, email)
          if (!found) throw new CommandError(`No account has the address ${email}. See: stead account list`)
          await setFacts(tx, found.id, facts)
          return (await findAccountByEmail(tx, email)) as Account
        })
        const { name, organization, phoneNumber, isAffiliate, isPreview } = account
        return printOne({ email, name, organization, phoneNumber, affiliate: isAffiliate, preview: isPreview }, asJson)
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
        throw new CommandError('stead account create, list, update or set-plan. See: stead help')
    }
  })
}

function yesOrNo(call: CommandCall, name: string): boolean | undefined {
  const value = optional(call, name)
  if (value !== undefined && value !== 'yes' && value !== 'no') throw new CommandError(`--${name} must be yes or no`)
  return value === undefined ? undefined : value === 'yes'
}

function knownPlan(plan: string): string {
  if (!planNames.includes(plan)) throw new CommandError(`--plan must be one of: ${planNames.join(', ')}`)
  return plan
}
