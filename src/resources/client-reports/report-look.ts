import type { Tx } from '../../platform/db/database.ts'
import { findAccount } from '../account/public.ts'
import { brandingOf } from '../branding/public.ts'
import { type ReportLook, USUAL_COLOR } from './page/report-page.ts'

/** Returns how the reports of an account look: its branding, or else the name of the account. */
export async function lookOf(tx: Tx, accountId: number): Promise<ReportLook> {
  const branding = await brandingOf(tx, accountId)
  const account = await findAccount(tx, accountId)
  return {
    name: branding.name ?? (account?.organization || account?.name || ''),
    color: branding.color ?? USUAL_COLOR,
    logo: branding.logo,
  }
}
