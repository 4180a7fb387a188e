import { hash } from 'node:crypto'
import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import type { Context } from '../../kit/context.ts'
import { closeSessions } from '../../sessions/public.ts'
import { attemptWasRight } from '../attempts.ts'
import { accountOfLink, findCredentials, spendLink } from '../credentials.store.ts'
import { countGuess, verifyCode } from '../passkeys/verify-guess.ts'
import { type Person, requireFromHere } from '../person.ts'
import { problems } from '../problems.ts'

export const LinkToken = Type.String({
  maxLength: 100,
  description: 'Part of the link after `#`',
  examples: ['mF_9.B5f-4.1JqM'],
})

/** Person that a link is for, with the link's hash. */
export interface FoundLink extends Person {
  readonly tokenHash: string
}

/** @throws Problem `cross_site`, `link_spent` */
export async function openLink(context: Context, token: string): Promise<FoundLink> {
  requireFromHere(context)
  const tokenHash = hash('sha256', token, 'hex')
  const link = await accountOfLink(context.database.read, tokenHash, context.now)
  if (!link) throw new Problem(problems.link_spent, {})
  return { ...link, tokenHash }
}

/**
 * Counts a guess before anything is checked. A thief with access to the mailbox must still guess the code.
 * @throws Problem `too_many_guesses`
 */
export async function countUse(context: Context, { email }: Person): Promise<void> {
  await countGuess(context, { email, ipAddress: context.request.ipAddress })
}

/**
 * Uses a link once, with the code if the account needs one. Ends all sessions of the account.
 * @throws Problem
 */
export async function useLink(context: Context, link: FoundLink, code: string | undefined): Promise<void> {
  const { tx, request, now } = context
  const { accountId, email, tokenHash } = link
  const credentials = await findCredentials(tx, { id: accountId })
  if (!credentials || !(await spendLink(tx, tokenHash, accountId, now))) throw new Problem(problems.link_spent, {})
  await verifyCode(context, credentials, code)
  await attemptWasRight(tx, { email, ipAddress: request.ipAddress }, now)
  await closeSessions(tx, accountId, now)
}
