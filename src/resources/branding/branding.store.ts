import { sql } from 'kysely'
import { readableOnWhite } from '../../colors.ts'
import { batches } from '../../platform/batches.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { MailBrand } from '../../platform/mail/letter.ts'
import { isOperator } from '../account/public.ts'
import { type Brand, type Branding, noBranding } from './branding.ts'
import type { AccountBrandingRow } from './tables.ts'

/** Databases limit the values of a statement. */
const IDS_AT_ONCE = 500

export const findBranding = (tx: Tx, accountId: number): Promise<AccountBrandingRow | undefined> =>
  tx.selectFrom('account_branding').selectAll().where('account_id', '=', accountId).executeTakeFirst()

/** Returns what an account shows to its clients. */
export async function brandingOf(tx: Tx, accountId: number): Promise<Branding> {
  const row = await findBranding(tx, accountId)
  if (!row) return noBranding
  const { name, color, logo, logo_type: type, reply_to: replyTo } = row
  return { name, color, logo: logo && type && `data:${type};base64,${logo}`, replyTo }
}

/** Returns the brand of an account that has chosen a name, a color or a logo, and is not suspended. */
export async function brandOf(tx: Tx, accountId: number): Promise<(Brand & Pick<Branding, 'replyTo'>) | undefined> {
  const row = await tx
    .selectFrom('account_branding')
    .innerJoin('accounts', 'accounts.id', 'account_branding.account_id')
    .select(['account_branding.name', 'color', 'reply_to', 'logo_width', 'logo_height', 'updated_at'])
    .select(['accounts.name as accountName', 'organization'])
    // Without the picture itself, which has up to 270 kB.
    .select(sql<number>`case when logo is null then 0 else 1 end`.as('hasLogo'))
    .where('account_id', '=', accountId)
    .where('suspended_at', 'is', null)
    .executeTakeFirst()
  if (!row || (row.name === null && row.color === null && Number(row.hasLogo) === 0)) return undefined
  const { logo_width: width, logo_height: height } = row
  return {
    name: row.name ?? (row.organization || row.accountName),
    color: row.color,
    logo: Number(row.hasLogo) === 1 ? { version: Number(row.updated_at), width, height } : null,
    replyTo: row.reply_to,
  }
}

/**
 * Returns the account whose brand a person sees in the control panel: their own, or else that of the only account on
 * whose sites they work. An account cannot brand the panel of people with sites of their own, of those who also work for
 * another account, and of the operator.
 */
export async function brandSeenBy(
  tx: Tx,
  accountId: number,
): Promise<{ readonly accountId: number; readonly brand: Brand } | undefined> {
  const own = await brandOf(tx, accountId)
  if (own) return { accountId, brand: own }
  const owners = await ownersOfSitesSeenBy(tx, accountId)
  const [only] = owners
  if (only === undefined || owners.length > 1 || only === accountId || (await isOperator(tx, accountId)))
    return undefined
  const brand = await brandOf(tx, only)
  return brand && { accountId: only, brand }
}

/** Returns the owners of the sites that a person sees, two at most. A person with a site is the first of them. */
async function ownersOfSitesSeenBy(tx: Tx, accountId: number): Promise<number[]> {
  const seen = tx
    .selectFrom('site_access')
    .innerJoin('sites', 'sites.id', 'site_access.site_id')
    .where('site_access.account_id', '=', accountId)
    .where('site_access.is_deleted', '=', 0)
  // Most accounts have sites, and some have thousands.
  const own = await seen.select('sites.id').where('sites.account_id', '=', accountId).limit(1).executeTakeFirst()
  if (own) return [accountId]
  const rows = await seen.select('sites.account_id').distinct().limit(2).execute()
  return rows.map(({ account_id }) => Number(account_id))
}

/**
 * Returns how a mail looks that Stead sends on behalf of the accounts that own these sites. Mails about sites of several
 * accounts, of an account without a brand, or to the owner, are those of Stead.
 */
export async function brandOfMail(
  tx: Tx,
  { siteIds, toId }: { readonly siteIds: readonly number[]; readonly toId: number },
): Promise<MailBrand | undefined> {
  const owners = new Set<number>()
  for (const some of batches(siteIds, IDS_AT_ONCE)) {
    if (owners.size > 1) return undefined
    const rows = tx.selectFrom('sites').select('account_id').distinct().where('id', 'in', some).limit(2)
    for (const { account_id: id } of await rows.execute()) owners.add(Number(id))
  }
  const [only] = owners
  return only !== undefined && owners.size === 1 && only !== toId ? brandOfMailFrom(tx, only) : undefined
}

/** Returns how a mail looks that Stead sends on behalf of an account. */
export async function brandOfMailFrom(tx: Tx, accountId: number): Promise<MailBrand | undefined> {
  const brand = await brandOf(tx, accountId)
  if (!brand?.name) return undefined
  const { name, color, replyTo } = brand
  return { name, color: color && readableOnWhite(color), replyTo }
}

/** Changes some fields. The others stay. */
export async function changeBranding(
  tx: Tx,
  accountId: number,
  changes: Partial<Omit<AccountBrandingRow, 'account_id' | 'updated_at'>>,
  now: number,
): Promise<void> {
  const none = {
    name: null,
    color: null,
    logo: null,
    logo_type: null,
    logo_width: null,
    logo_height: null,
    reply_to: null,
  }
  await tx
    .insertInto('account_branding')
    .values({ account_id: accountId, ...none, ...changes, updated_at: now })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...changes, updated_at: now }))
    .execute()
}

export async function forgetBranding(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('account_branding').where('account_id', '=', accountId).execute()
}
