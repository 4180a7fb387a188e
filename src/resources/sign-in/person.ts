import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { reply, type SpecialReply } from '../../platform/http/endpoint.ts'
import { Problem } from '../../platform/http/problem.ts'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { ensurePanelApplication, findAccount } from '../account/public.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { type Change, changeBy } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { insertSession, SESSION_MS, sessionHash } from '../sessions/public.ts'
import { isFromHere, sessionCookie } from './cookie.ts'
import { problems } from './problems.ts'

/** Person who has just proved their identity, in a request without a caller. */
export interface Person {
  readonly accountId: number
  readonly email: string
}

export const SignedIn = Type.Object(
  { account_id: Type.Integer(), email: Type.String({ examples: ['owner@example.com'] }), expires_at: Timestamp },
  { title: 'SignedIn' },
)

/**
 * Rejects requests from pages of other sites. Programs may sign in from anywhere.
 * @throws Problem `cross_site`
 */
export function requireFromHere({ request, origin }: Pick<Context, 'request' | 'origin'>): void {
  if (!isFromHere(request.headers, origin, true)) throw new Problem(authenticationProblems.cross_site, {})
}

/** Returns the change that endpoints with a caller also have. */
export function changeOfPerson({ tx, request, now }: Context, { accountId, email }: Person): Change {
  const caller = { applicationId: 0, accountId, accountEmail: email, isOwner: true }
  return changeBy(tx, { actor: { caller, request }, about: { accountId }, now })
}

/**
 * Starts a session, and returns a reply with its cookie.
 * @throws Problem `account_suspended`
 */
export async function newSession(context: Context, { accountId, email }: Person): Promise<SpecialReply> {
  const { tx, request, origin, now } = context
  if ((await findAccount(tx, accountId))?.suspendedAt != null) throw new Problem(problems.account_suspended, {})
  const token = randomBytes(32).toString('base64url')
  const expiresAt = now + SESSION_MS
  await insertSession(tx, {
    hash: sessionHash(token),
    applicationId: await ensurePanelApplication(tx, accountId, now),
    accountId,
    userAgent: request.userAgent.slice(0, 300),
    ipAddress: request.ipAddress,
    origin,
    now,
    expiresAt,
  })
  const data = { account_id: accountId, email, expires_at: timestamp(expiresAt) }
  return reply(data, { headers: { 'set-cookie': sessionCookie(origin, token, SESSION_MS / 1000) } })
}
