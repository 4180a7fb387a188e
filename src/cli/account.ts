import type { Tx } from '../platform/db/database.ts'
import { isMailAddress } from '../platform/mail/mail-address.ts'
import {
  type Account,
  type AccountFacts,
  findAccountByEmail,
  listAccounts,
  setFacts,
  setPlan,
} from '../resources/account/account.store.ts'
import { makeAccount, normalEmail } from '../resources/account/account.ts'
import { firstPlan } from '../resources/account/plans.ts'
import { makeLink } from '../resources/sign-in/password/mail-link.job.ts'
import type { ControlDatabaseKey } from '../roles/process-context.ts'
import type { Call } from './command.ts'
import { CommandError, printOne, printRows } from './output.ts'
import { withControlDatabase } from './with-control-database.ts'

/**
 * Returns the account with an address.
 * @throws CommandError
 */
export async function accountNamed(tx: Tx, email: string): Promise<Account> {
  const account = await findAccountByEmail(tx, normalEmail(email))
  if (!account) throw new CommandError(`No account has the address ${email}. To list accounts, run stead account list`)
  return account
}

interface CreateFlags {
  readonly email: string
  readonly name: string | undefined
  readonly plan: string | undefined
}

/** Runs `stead account create`. */
export async function create({ config, flags }: Call<CreateFlags, ControlDatabaseKey>): Promise<void> {
  const { email, name, plan = firstPlan, json } = flags
  return withControlDatabase(config, async ({ database }) => {
    if (!isMailAddress(normalEmail(email))) throw new CommandError('--email must be an e-mail address')
    const account = await database.transaction(async (tx) => {
      if (await findAccountByEmail(tx, normalEmail(email))) throw new CommandError(`${email} already has an account`)
      return makeAccount(tx, { email, plan, now: Date.now(), ...(name ? { name } : {}) })
    })
    printOne(shown(account), json)
  })
}

/** Runs `stead account list`. */
export async function list({ config, flags }: Call<unknown, ControlDatabaseKey>): Promise<void> {
  return withControlDatabase(config, async ({ database }) =>
    printRows((await listAccounts(database.read)).map(shown), flags.json),
  )
}

const shown = ({ id, email, name, plan }: Account) => ({ id, email, name, plan })

interface UpdateFlags {
  readonly email: string
  readonly name: string | undefined
  readonly organization: string | undefined
  readonly phone: string | undefined
  readonly affiliate: string | undefined
  readonly preview: string | undefined
  readonly 'one-time-login': string | undefined
  readonly 'automatic-updates': string | undefined
}

/** Runs `stead account update`. */
export async function update({ config, flags }: Call<UpdateFlags, ControlDatabaseKey>): Promise<void> {
  const facts: AccountFacts = {
    name: flags.name,
    organization: flags.organization,
    phoneNumber: flags.phone,
    isAffiliate: isYes(flags.affiliate),
    isPreview: isYes(flags.preview),
    hasOneTimeLogin: isYes(flags['one-time-login']),
    hasAutomaticUpdates: isYes(flags['automatic-updates']),
  }
  return withControlDatabase(config, async ({ database }) => {
    if (Object.values(facts).every((value) => value === undefined))
      throw new CommandError('There is nothing to change. See: stead help account update')
    const account = await database.transaction(async (tx) => {
      await setFacts(tx, (await accountNamed(tx, flags.email)).id, facts)
      return accountNamed(tx, flags.email)
    })
    const { email, name, organization, phoneNumber, isAffiliate, isPreview } = account
    const flagsOf = {
      ...{ affiliate: isAffiliate, preview: isPreview },
      ...{ oneTimeLogin: account.hasOneTimeLogin, automaticUpdates: account.hasAutomaticUpdates },
    }
    printOne({ email, name, organization, phoneNumber, ...flagsOf }, flags.json)
  })
}

const isYes = (value: string | undefined) => (value === undefined ? undefined : value === 'yes')

/** Runs `stead account set-plan`. */
export async function changePlan({
  config,
  flags,
}: Call<{ email: string; plan: string }, ControlDatabaseKey>): Promise<void> {
  return withControlDatabase(config, async ({ database }) => {
    const account = await database.transaction(async (tx) => {
      const found = await accountNamed(tx, flags.email)
      await setPlan(tx, found.id, flags.plan)
      return found
    })
    printOne({ email: account.email, plan: flags.plan }, flags.json)
  })
}

/** Runs `stead account link`. */
export async function link({
  config,
  flags,
}: Call<{ email: string }, ControlDatabaseKey | 'panelUrl' | 'apiListen'>): Promise<void> {
  return withControlDatabase(config, async ({ database }) => {
    const made = await database.transaction(async (tx) => {
      const { id: accountId } = await accountNamed(tx, flags.email)
      return makeLink(tx, config, { accountId, kind: 'first', now: Date.now() })
    })
    printOne({ email: flags.email, link: made }, flags.json)
  })
}
