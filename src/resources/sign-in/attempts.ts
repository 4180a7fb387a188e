import { hash } from 'node:crypto'
import { addressKey } from '../../platform/budgets/address-key.ts'
import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { forgetAttempts, holdAttempts, setAttempts } from './attempts.store.ts'
import { problems } from './problems.ts'

/** After this time without a further attempt, attempts are forgotten. */
export const FORGET_MS = 3600_000
const FIRST_WAIT_MS = 2000

interface Slowing {
  readonly key: string
  /** Number of attempts without a wait, because people mistype. */
  readonly free: number
  readonly longestMs: number
}

/**
 * Returns the three counters of a sign-in: an account's from one network, all from one network, and an account's from
 * anywhere. The last one has the shortest waits, because guesses from many places must not keep the owner out.
 */
function slowings(email: string, ipAddress: string): Slowing[] {
  const account = hash('sha256', email, 'base64url')
  const network = addressKey(ipAddress)
  return [
    { key: `${account} ${network}`, free: 5, longestMs: 15 * 60_000 },
    { key: `network ${network}`, free: 20, longestMs: 15 * 60_000 },
    { key: `account ${account}`, free: 100, longestMs: 30_000 },
  ]
}

/**
 * Returns when the next guess is accepted. While free attempts are left, that is at once, even for a request that began
 * before the last one and is counted after it.
 */
const readyAfter = ({ free, longestMs }: Slowing, count: number, lastAt: number): number =>
  count < free ? 0 : lastAt + Math.min(FIRST_WAIT_MS * 2 ** (count - free), longestMs)

/**
 * Counts a guess before it is checked, so that simultaneous guesses count like successive ones.
 * @throws Problem `too_many_guesses`, in which case it does not count
 */
export async function countAttempt(tx: Tx, who: { email: string; ipAddress: string }, now: number): Promise<void> {
  const all = slowings(who.email, who.ipAddress)
  const known = await holdAttempts(
    tx,
    all.map(({ key }) => key),
  )
  const counts = all.map((each) => {
    const { count, lastAt } = known.get(each.key) ?? { count: 0, lastAt: 0 }
    // A future time was written before the clock was set back.
    const isOld = Math.abs(now - lastAt) > FORGET_MS
    return { ...each, count: isOld ? 0 : count, readyAt: isOld ? 0 : readyAfter(each, count, lastAt) }
  })
  const readyAt = Math.max(...counts.map((each) => each.readyAt))
  if (readyAt > now) {
    const seconds = Math.ceil((readyAt - now) / 1000)
    throw new Problem(problems.too_many_guesses, { seconds }, { headers: { 'retry-after': String(seconds) } })
  }
  for (const { key, count } of counts) await setAttempts(tx, key, { count: count + 1, now })
}

/**
 * Returns whether to log that sign-ins to an account are refused. Once an hour, so that an attack does not fill the
 * log.
 */
export async function tellsOfRefusal(tx: Tx, email: string, now: number): Promise<boolean> {
  const key = `told ${hash('sha256', email, 'base64url')}`
  const { lastAt } = (await holdAttempts(tx, [key])).get(key) ?? { lastAt: 0 }
  if (Math.abs(now - lastAt) < FORGET_MS) return false
  await setAttempts(tx, key, { count: 1, now })
  return true
}

/**
 * Resets the counters after a right guess. The person's own start again at zero. The network's counter loses only this
 * guess.
 */
export async function attemptWasRight(tx: Tx, who: { email: string; ipAddress: string }, now: number): Promise<void> {
  const [own, network, account] = slowings(who.email, who.ipAddress) as [Slowing, Slowing, Slowing]
  await forgetAttempts(tx, [own.key, account.key])
  const { count = 1 } = (await holdAttempts(tx, [network.key])).get(network.key) ?? {}
  await setAttempts(tx, network.key, { count: Math.max(0, count - 1), now })
}
