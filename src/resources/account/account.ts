import { hash, randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import { defaultPhpVersion } from '../../hosting/php/runtime.ts'
import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import { changeBy } from '../kit/change.ts'
import {
  type Account,
  type Application,
  ensurePanelApplicationRow,
  findAccountByEmail,
  insertAccount,
  insertAccountIfNew,
  insertApplication,
  isOperator,
} from './account.store.ts'
import { actions } from './actions.ts'
import { firstPlan, invitedPlan } from './plans.ts'

/** Application with the secret that is shown once. */
export interface NewApplication extends Application {
  readonly clientSecret: string
}

/** Returns whether an account may raise its own limits: see the setting `addons`. */
export const raisesLimits = async (tx: Tx, accountId: number, { addons }: Pick<Config, 'addons'>): Promise<boolean> =>
  addons === 'all' || (await isOperator(tx, accountId))

/** Normalizes an e-mail address, because case does not matter. */
export const normalEmail = (email: string): string => email.trim().toLowerCase()

/** Creates an API application. The secret has 256 random bits, and only its SHA-256 is stored. */
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

/** @returns the id of the application for an account's sessions in the control panel */
export const ensurePanelApplication = (tx: Tx, accountId: number, now: number): Promise<number> =>
  ensurePanelApplicationRow(tx, { accountId, secretHash: hash('sha256', randomBytes(32), 'hex'), now })

/** Creates the account and application of a first start. Returns `undefined` when there already are accounts. */
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
 * Returns the account of a normalized address, and creates it if needed.
 * @returns `isNew` if it was just created
 */
export async function ensureAccount(tx: Tx, email: string, now: number): Promise<{ account: Account; isNew: boolean }> {
  const found = await heldByEmail(tx, email)
  if (found) return { account: found, isNew: false }
  const made = await insertAccountIfNew(tx, { email, name: nameOf(email), plan: invitedPlan, defaultPhpVersion, now })
  // Of two simultaneous invitations, the other has created the account by now.
  if (!made) return { account: (await findAccountByEmail(tx, email)) as Account, isNew: false }
  const message = `Created the account ${email} by invitation`
  await changeBy(tx, { actor: 'systems', about: { accountId: made.id }, now }).record({
    action: actions.created,
    message,
  })
  return { account: made, isNew: true }
}

/** Returns the account of an address, held, so that it is not removed before it is invited. */
async function heldByEmail(tx: Tx, email: string): Promise<Account | undefined> {
  const found = await findAccountByEmail(tx, email)
  if (!found) return undefined
  await lockForUpdate(tx, 'accounts', found.id)
  return findAccountByEmail(tx, email)
}

const nameOf = (email: string): string => email.split('@')[0] as string

/** @throws Error when the address already has an account */
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

/** Returns the avatar URL of an e-mail address (Gravatar's scheme: SHA-256 of the trimmed lower-case address). */
export const gravatar = (email: string): string =>
  `https://www.gravatar.com/avatar/${hash('sha256', normalEmail(email), 'hex')}?d=mp`
