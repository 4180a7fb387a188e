import { textsAt } from '../../dns/wire/text-records.ts'
import { lockForUpdate } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { letter } from '../../platform/mail/letter.ts'
import { isOneMailbox } from '../../platform/mail/mail-address.ts'
import { countMail } from '../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import { someOf } from '../../platform/some-of.ts'
import { findAccount } from '../account/public.ts'
import { hostNamesIn, type Zone, zoneOfOther } from '../dns/public.ts'
import { type Change, changeBy, type Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import type { Site } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { claimOfAccount, countClaims, insertClaim } from './claim.store.ts'
import { type Claim, claimValue, MOST_CLAIMS, NOTICE_MS, recordNameOf } from './claim.ts'
import { problems } from './problems.ts'

/** What the DNS returns for the record of a claim. */
export interface ClaimProof {
  readonly isSeen: boolean
  /** The rest of a sentence that begins "So far". */
  readonly seen: string
}

type Asking = Pick<Context, 'tx' | 'config' | 'sealer'>

/**
 * Checks whether an account controls a zone that another account has.
 * @returns undefined when no other account has it
 */
export async function lookForProof(
  { tx, config, sealer }: Asking,
  accountId: number,
  zone: string,
): Promise<ClaimProof | undefined> {
  if (!(await zoneOfOther(tx, accountId, zone)) || (await claimOfAccount(tx, accountId, zone))) return undefined
  const value = claimValue(sealer, accountId, zone)
  try {
    const texts = await textsAt(recordNameOf(zone), config.resolvers)
    if (texts.includes(value)) return { isSeen: true, seen: '' }
    if (texts.length === 0) return { isSeen: false, seen: 'the DNS does not have this record' }
    return { isSeen: false, seen: 'the DNS has the record with another value' }
  } catch (error) {
    return { isSeen: false, seen: `Stead could not check: ${(error as Error).message}` }
  }
}

/**
 * Starts a claim of another account's zone for a site. Hold both. The holder is notified, and the zone moves a day
 * later.
 * @returns the existing claim, if the account already has one for the zone
 * @throws Problem `zone_of_other_account` without a proof, `claim_limit_reached`
 */
export async function beginClaim(
  context: Context & Recording,
  {
    zone,
    site,
    hostName,
    proof,
  }: { zone: Zone; site: Pick<Site, 'id' | 'accountId'>; hostName: string; proof: ClaimProof | undefined },
): Promise<Claim | Omit<Claim, 'id'>> {
  const { tx, now, sealer } = context
  const { accountId } = site
  const known = await claimOfAccount(tx, accountId, zone.name)
  if (known) return known
  const limit = new Problem(problems.claim_limit_reached, { limit: MOST_CLAIMS })
  await lockForUpdate(tx, 'accounts', accountId)
  if ((await countClaims(tx, accountId)) >= MOST_CLAIMS) throw limit
  const value = claimValue(sealer, accountId, zone.name)
  if (!proof?.isSeen)
    throw new Problem(problems.zone_of_other_account, {
      ...{ zone: zone.name, record: recordNameOf(zone.name), value },
      seen: proof?.seen ?? 'Stead has not checked for it',
    })
  const claim = {
    ...{ zone: zone.name, accountId, holderId: zone.accountId, siteId: site.id, hostName, value },
    movesAt: now + NOTICE_MS,
  }
  await insertClaim(tx, claim)
  await context.record({
    action: actions['domain.claimed'],
    message: `Claimed ${zone.name} for ${hostName}. The domain moves at ${timeOf(claim.movesAt)}`,
    event: { type: events.domain_claimed, data: { domain: zone.name, role: 'claimant', moves_at: isoOf(claim) } },
  })
  if (!(await notify(context, zone, claim))) throw limit
  return claim
}

const isoOf = ({ movesAt }: Pick<Claim, 'movesAt'>): string => new Date(movesAt).toISOString()

export const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** How many names a mail lists. */
const MOST_NAMES = 20

/**
 * Tells the account that has the zone, without naming the claimant.
 * @returns false when too many mails were sent within the hour
 */
async function notify(
  { tx, now }: Pick<Context, 'tx' | 'now'>,
  zone: Zone,
  claim: Omit<Claim, 'id'>,
): Promise<boolean> {
  const { record }: Pick<Change, 'record'> = changeBy(tx, {
    actor: 'systems',
    about: { accountId: zone.accountId },
    now,
  })
  const proof = `the TXT record ${recordNameOf(zone.name)}`
  await record({
    action: actions['zone.claimed'],
    message: `Another account claims ${zone.name} with ${proof}. The domain moves at ${timeOf(claim.movesAt)}, unless the record is removed before then`,
    event: { type: events.domain_claimed, data: { domain: zone.name, role: 'holder', moves_at: isoOf(claim) } },
  })
  const holder = await findAccount(tx, zone.accountId)
  if (!holder || !isOneMailbox(holder.email)) return true
  const names = await hostNamesIn(tx, zone.id)
  const lost = names.length > 0 ? ` Your sites then lose ${someOf(names, MOST_NAMES)}.` : ''
  const mail = letter(`Another account claims ${zone.name}`, [
    `Another account of this installation proved that it controls ${zone.name}: it created ${proof}.`,
    `At ${timeOf(claim.movesAt)}, the domain moves to that account.${lost} Stead deletes the records and keys of its zone.`,
    'If the domain is yours, remove that record at your DNS provider before then. The claim then ends, and nothing changes.',
  ])
  const about = { accountId: claim.accountId, to: holder.email, says: `${mail.subject} ${mail.text}`, now }
  const verdict = await countMail(tx, about)
  if (verdict === 'send') await enqueueMail(tx, { to: holder.email, ...mail }, { now })
  return verdict === 'send' || verdict === 'repeated'
}
