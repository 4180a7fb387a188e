import { type KnownAuthority, localAuthorities, localAuthority } from '../certificates/local-authority.store.ts'
import { localDomainOf } from '../certificates/local-domain.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import type { Database } from '../platform/db/database.ts'
import type { ControlDatabaseKey } from '../roles/process-context.ts'
import type { Call } from './command.ts'
import { CommandError, printRows } from './output.ts'
import { changeTrust, isAsWished, type Scope, type Standing, type Wish } from './trust/change-trust.ts'
import { rootOf, thisMachine } from './trust/machine.ts'
import { UsageError } from './usage-error.ts'
import { masterKeyOf, withControlDatabase } from './with-control-database.ts'

interface Flags {
  readonly remove: boolean
  readonly check: boolean
  readonly print: boolean
  readonly only: string | undefined
}
type TrustCall = Call<Flags, ControlDatabaseKey | 'masterKey' | 'stagingDomain' | 'localAuthority' | 'edgeTlsListen'>

/**
 * Runs `stead trust`: makes this machine trust certificates of the installation's own authority.
 * @returns 0 if every store is in the requested state, else 1
 */
export async function trust(call: TrustCall): Promise<number> {
  const { flags, environment } = call
  if ([flags.remove, flags.check, flags.print].filter(Boolean).length > 1)
    throw new UsageError('Use only one of --remove, --check and --print.')
  const wish: Wish = flags.remove ? 'remove' : flags.check ? 'check' : 'trust'
  let code = 0
  await withControlDatabase(call.config, async ({ database }) => {
    const authorities = await authoritiesFor(call, wish, database)
    if (flags.print) {
      process.stdout.write(authorities.map(({ certificate }) => certificate).join(''))
      return
    }
    if (wish === 'trust') warn(call, authorities)
    const roots = authorities.map(({ certificate }) => rootOf(certificate))
    const standings = await changeTrust(thisMachine(environment), roots, { wish, scope: flags.only as Scope })
    if (standings.length === 0) code = nothingThere(wish, roots.length > 0)
    else if (!standings.every((each) => isAsWished(each, wish))) code = 1
    if (standings.length > 0 || flags.json) print(standings, flags.json)
  })
  return code
}

/**
 * Returns the authorities to change. To trust is the one for the effective settings, which is created if necessary. To
 * remove or check are all that were ever created.
 */
async function authoritiesFor({ config }: TrustCall, wish: Wish, database: Database): Promise<KnownAuthority[]> {
  if (wish !== 'trust') return localAuthorities(database.read)
  const domain = localDomainOf(config)
  if (domain === undefined)
    throw new CommandError(
      config.localAuthority === 'off'
        ? 'Nothing to trust: STEAD_LOCAL_AUTHORITY is off.'
        : `Nothing to trust: sites are below ${config.stagingDomain} (STEAD_STAGING_DOMAIN), for which public authorities issue certificates.`,
    )
  const sealer = createSealer(await masterKeyOf(config, database))
  return [await localAuthority({ database, sealer, domain, now: Date.now() })]
}

/** Prints the consequences to standard error, because standard output is for results. */
function warn({ config }: TrustCall, authorities: readonly KnownAuthority[]): void {
  for (const { domain } of authorities)
    console.error(
      `Anyone with the control database and the master key of this installation can create certificates that this computer trusts, but only for names below ${domain}.\n` +
        'Undo this with stead trust --remove.',
    )
  if (config.edgeTlsListen === 'off')
    console.error('The edge does not listen for TLS yet. Start Stead with STEAD_EDGE_TLS_LISTEN=127.0.0.1:8443.')
}

function print(standings: readonly Standing[], asJson: boolean): void {
  const describeTrust = ({ trusted, ...rest }: Standing) => ({
    trusted: trusted === null ? 'unknown' : trusted ? 'yes' : 'no',
    ...rest,
  })
  printRows(asJson ? standings.map((each) => ({ ...each })) : standings.map(describeTrust), asJson)
}

function nothingThere(wish: Wish, isAuthorityThere: boolean): number {
  console.error(
    isAuthorityThere
      ? 'No browser store found. Start the browser once, then repeat the command.'
      : 'The authority does not exist yet. The first https request, or stead trust, creates it.',
  )
  return wish === 'remove' ? 0 : 1
}
