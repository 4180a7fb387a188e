import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { findAccountByEmail, normalEmail } from '../../account/public.ts'
import { changeBy } from '../../kit/change.ts'
import type { Context } from '../../kit/context.ts'
import { actions } from '../actions.ts'
import { attemptWasRight, countAttempt, tellsOfRefusal } from '../attempts.ts'
import { type Credentials, findCredentials } from '../credentials.store.ts'
import { problems } from '../problems.ts'
import { takeCode } from '../totp/totp.ts'

/**
 * Verifies the password of an account. Runs before any transaction of the change, because it takes a tenth of a second.
 * Counts the guess first, in its own transaction, so that a refusal also counts.
 * @throws Problem `too_many_guesses`, `too_many_sign_ins`, `wrong_password`
 */
export async function verifyPassword(
  { database, passwords, request, now }: Context,
  who: { id: number; email: string } | { email: string },
  password: string,
): Promise<Credentials> {
  const email = normalEmail(who.email)
  const guess = { email, ipAddress: request.ipAddress }
  await countGuess({ database, now }, guess)
  const credentials = await findCredentials(database.read, 'id' in who ? { id: who.id } : { email })
  if (!(await passwords.isRight(password, credentials?.passwordHash, request.ipAddress)) || !credentials)
    throw new Problem(problems.wrong_password, {})
  // With an authenticator app, a code must still be guessed, so the guess keeps counting until then.
  if (!credentials.totp) await database.transaction((tx) => attemptWasRight(tx, guess, now))
  return credentials
}

/**
 * Counts a guess. The log of the account reports when guesses are refused.
 * @throws Problem `too_many_guesses`
 */
export async function countGuess(
  { database, now }: Pick<Context, 'database' | 'now'>,
  guess: { readonly email: string; readonly ipAddress: string },
): Promise<void> {
  try {
    await database.transaction((tx) => countAttempt(tx, guess, now))
  } catch (error) {
    if (error instanceof Problem && error.code === problems.too_many_guesses.code)
      await database.transaction((tx) => recordRefusal(tx, guess, now))
    throw error
  }
}

async function recordRefusal(tx: Tx, guess: { email: string; ipAddress: string }, now: number): Promise<void> {
  const account = await findAccountByEmail(tx, guess.email)
  if (!account || !(await tellsOfRefusal(tx, guess.email, now))) return
  await changeBy(tx, { actor: 'systems', about: { accountId: account.id }, now }).record({
    action: actions.banned,
    message: `Temporarily blocked sign-ins of ${account.email} from ${guess.ipAddress}: too many wrong passwords`,
  })
}

/**
 * Verifies the code, the second step of accounts with an authenticator app, in the transaction of the change.
 * @throws Problem `code_needed`, `wrong_code`
 */
export async function verifyCode(context: Context, credentials: Credentials, code: string | undefined): Promise<void> {
  const { tx, sealer, request, now } = context
  const { totp, accountId, email } = credentials
  if (!totp) return
  if (!code) throw new Problem(problems.code_needed, {})
  if (!(await takeCode(tx, sealer, { accountId, secret: totp.secret, code, now })))
    throw new Problem(problems.wrong_code, {})
  await attemptWasRight(tx, { email, ipAddress: request.ipAddress }, now)
}
