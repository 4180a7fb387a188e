import { followAliases, proofName } from '../../certificates/dns-proof.ts'
import { whyElsewhere } from '../../certificates/points-here.ts'
import { zoneHolding } from '../../dns/zones/challenges.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import { reservationOf } from '../access/reserved-names.ts'
import { isOperator } from '../account/public.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { edgeAddresses } from '../sites/public.ts'
import { isServed, ownerOfDomain } from './certificate.store.ts'
import { createComesBack, marksHere } from './comes-back.ts'
import { ownNames } from './own-names.ts'

/** Returns why an order would fail, without contacting the authority, as a sentence without a full stop. */
export async function whyNot(
  { config, database, sealer }: Pick<ControlServices, 'config' | 'database' | 'sealer'>,
  hostName: string,
): Promise<string | undefined> {
  const isOwn = ownNames(config).includes(hostName)
  if (config.edgeTlsListen === 'off' && !isOwn)
    return 'Stead requests no certificates while the edge does not listen for TLS (STEAD_EDGE_TLS_LISTEN)'
  if (!config.acmeTermsAgreed)
    return 'Stead requests no certificates until the operator agrees to the terms of the authority (STEAD_ACME_TERMS_AGREED)'
  if (!isOwn && !(await isServed(database.read, hostName))) return `${hostName} is not the name of a site`
  if (!isOwn && (await isWithheld(database.read, hostName, config)))
    return `${hostName} belongs to this installation, but its site does not belong to the operator`
  if (isWildcard(hostName)) {
    const place = await placeOfProof(database.read, hostName, config.resolvers)
    return 'fault' in place ? place.fault : undefined
  }
  const comesBack = createComesBack({ config, markHere: marksHere(sealer) })
  return whyElsewhere(hostName, { addresses: edgeAddresses(config), resolvers: config.resolvers, comesBack })
}

/** Returns whether a site got a name of the installation before a setting reserved it. */
async function isWithheld(tx: Tx, hostName: string, config: ControlServices['config']): Promise<boolean> {
  const reservation = reservationOf(hostName, config)
  if (reservation !== 'domain') return reservation === 'service'
  const owner = await ownerOfDomain(tx, hostName)
  return owner !== undefined && !(await isOperator(tx, owner))
}

/** Returns where the proof of a name goes in a zone that Stead serves, or why it cannot be placed. */
export async function placeOfProof(tx: Tx, hostName: string, resolvers: readonly string[]) {
  const asked = proofName(hostName)
  try {
    const name = await followAliases(asked, resolvers)
    const zone = await zoneHolding(tx, name)
    if (zone) return { name, zone }
    const missing =
      name === asked
        ? 'No zone of this installation contains it'
        : `It points to ${name}, which no zone of this installation contains`
    return {
      fault: `The authority queries the DNS for ${asked}. ${missing}. Let Stead serve the zone, or make ${asked} a CNAME of a name in a zone that Stead serves`,
    }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}
