import { hash, randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import { defaultPhpVersion } from '../../hosting/php/runtime.ts'
import type { Tx } from '../../platform/db/database.ts'
import { changeBy } from '../kit/change.ts'
import {
  type Account,
  type Application,
  ensurePanelApplication as ensurePanel,
  findAccountByEmail,
  insertAccount,
  insertAccountIfNew,
  insertApplication,
  isOperator,
} from './account.store.ts'
import { actions } from './actions.ts'
import { firstPlan, invitedPlan } from './plans.ts'

export type { Account, AccountFacts, Application } from './account.store.ts'
export {
  findAccount,
  findAccountByEmail,
  firstAccount,
  isOperator,
  listAccounts,
  listApplications,
  listLiveApplications,
  revokeApplication,
  setFacts,
  setPlan,
  setSuspended,
  suspendedAmong,
} from './account.store.ts'

/** An application with the secret that is shown once. */
export interface NewApplication extends Application {
  readonly clientSecret: string
}

/** Whether an account may raise its own limits: see the setting `addons`. */
export const raisesLimits = async (tx: Tx, accountId: number, { addons }: Pick<Config, 'addons'>): Promise<boolean> =>
  addons === 'all' || (await isOperator(tx, accountId))

/** E-mail addresses are compared without regard to case. */
export const normalEmail = (email: string): string => email.trim().toLowerCase()

/** Makes an API application; the secret has 256 random bits and is kept as its SHA-256 only. */
export async function makeApplication(
  tx: Tx,
  values: { accountId: number; name: string; isOwner: boolean; now: number },
): Promise<NewApplication> {
  const clientSecret = randomBytes(32).toString('base64url')
  const application = await insertApplication(tx, {
    ...values,
    clientId: randomBytes(16).toString('hex'),
    secretHash: hash('sha256', clientSecret, 'hex'),
  })
  return { ...application, clientSecret }
}

/** @returns the id of the application that an account's sessions in the control panel go by */
export const ensurePanelApplication = (tx: Tx, accountId: number, now: number): Promise<number> =>
  ensurePanel(tx, { accountId, secretHash: hash('sha256', randomBytes(32), 'hex'), now })

/** The account and application of a first start; `undefined` when there already are accounts. */
export async function makeFirstAccount(
  tx: Tx,
  values: { email: string; now: number },
): Promise<{ account: Account; application: NewApplication } | undefined> {
  const exists = await tx.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
  if (exists) return undefined
  const account = await makeAccount(tx, { email: values.email, plan: firstPlan, now: values.now })
  const application = await makeApplication(tx, {
    accountId: account.id,
    name: 'First application',
    isOwner: true,
    now: values.now,
  })
  return { account, application }
}

/**
 * The account of a normal address; a new one when it has none.
 * @returns `isNew`: it was made just now
 */
export async function ensureAccount(tx: Tx, email: string, now: number): Promise<{ account: Account; isNew: boolean }> {
  const found = await findAccountByEmail(tx, email)
  if (found) return { account: found, isNew: false }
  const made = await insertAccountIfNew(tx, { email, name: nameOf(email), plan: invitedPlan, defaultPhpVersion, now })
  // two invitations at the same moment: the other one's account is there by now
  if (!made) return { account: (await findAccountByEmail(tx, email)) as Account, isNew: false }
  const message = `Created the account ${email} by invitation`
  await changeBy(tx, { actor: 'systems', about: { accountId: made.id }, now }).record({
    action: actions.created,
    message,
  })
  return { account: made, isNew: true }
}

const nameOf = (email: string): string => email.split('@')[0] as string

/** @throws Error when the address has an account already */
export async function makeAccount(
  tx: Tx,
  values: { email: string; name?: string; plan: string; now: number },
): Promise<Account> {
  const email = normalEmail(values.email)
  if (await findAccountByEmail(tx, email)) throw new Error(`${email} already has an account`)
  return insertAccount(tx, {
    email,
    name: values.name ?? nameOf(email),
    plan: values.plan,
    defaultPhpVersion,
    now: values.now,
  })
}

/** Avatar address of an e-mail address (Gravatar's scheme: SHA-256 of the trimmed lower-case address). */
export const gravatar = (email: string): string =>
  `https://www.gravatar.com/avatar/${hash('sha256', normalEmail(email), 'hex')}?d=mp`
