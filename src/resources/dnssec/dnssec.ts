import Type from 'typebox'
import { dsOf } from '../../dns/signing/key.ts'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { Key, Signing } from './key.store.ts'

export { setDnssec } from './key.store.ts'

const KeySchema = Type.Object(
  {
    tag: Type.Integer({ examples: [20326] }),
    state: Type.String({
      description: '`published`: its DS record is waited for; `active`: it signs; `retired`: it is about to go',
      examples: ['active'],
    }),
    has_ds: Type.Boolean({ description: 'The zone above named it when it was last asked' }),
    ds: Type.String({ description: 'The DS record for the registrar', examples: ['20326 13 2 E06D44B8…'] }),
    dnskey: Type.String({ description: 'For registrars that ask for the key', examples: ['257 3 13 mdsswUyr…'] }),
    created: Timestamp,
  },
  { title: 'DnssecKey' },
)

export const DnssecSchema = Type.Object(
  {
    enabled: Type.Boolean(),
    status: Type.String({
      description:
        '`off`; `signed`: but no DS record leads to it yet; `secure`: resolvers check the signatures; `rolling`: the key is being changed; `leaving`: it is signed until ' +
        'no resolver trusts its key any more',
      examples: ['signed'],
    }),
    advice: Type.String({
      description: 'What is to be done next, by whom',
      examples: ['Give the DS record to the registrar of the domain.'],
    }),
    keys: Type.Array(KeySchema),
    looked_at: nullable(Timestamp),
    fault: nullable(Type.String({ description: 'Why the zone above could not be asked', examples: [null] })),
  },
  { title: 'Dnssec' },
)

type Status = 'off' | 'signed' | 'secure' | 'rolling' | 'leaving'

function statusOf({ dnssec, keys }: Signing): Status {
  if (dnssec !== 'on') return dnssec
  if (keys.length > 1) return 'rolling'
  return keys.some(({ hasDs }) => hasDs) ? 'secure' : 'signed'
}

/** What somebody who looks after a signed zone is to do. */
export function adviceOf(signing: Signing): string {
  const { keys } = signing
  const tags = (chosen: readonly Key[]) => chosen.map(({ tag }) => tag).join(' and ')
  switch (statusOf(signing)) {
    case 'off':
      return 'The zone is not signed. Switch DNSSEC on to get a DS record for the registrar of the domain.'
    case 'signed':
      return 'Give the DS record to the registrar of the domain. Until then nobody checks the signatures.'
    case 'secure':
      return 'Nothing is to be done.'
    case 'leaving': {
      const named = keys.filter(({ hasDs }) => hasDs)
      return named.length > 0
        ? `Have the registrar remove the DS record of key ${tags(named)}. Signing ends three days after it is gone.`
        : 'Nothing is to be done: signing ends when no resolver remembers the DS record any more.'
    }
    case 'rolling': {
      const next = keys.filter(({ state }) => state === 'published')
      if (next.some(({ hasDs }) => !hasDs))
        return `Give the DS record of key ${tags(next)} to the registrar, beside the old one or in its place.`
      const old = keys.filter(({ state, hasDs }) => state === 'retired' && hasDs)
      return old.length > 0
        ? `Have the registrar remove the DS record of key ${tags(old)}.`
        : 'Nothing is to be done: the keys change by themselves when no resolver remembers the old state any more.'
    }
  }
}

/** @param zone its name */
export function presentDnssec(zone: string, signing: Signing): Type.Static<typeof DnssecSchema> {
  return {
    enabled: signing.dnssec === 'on',
    status: statusOf(signing),
    advice: adviceOf(signing),
    keys: signing.keys.map((key) => ({
      tag: key.tag,
      state: key.state,
      has_ds: key.hasDs,
      ds: inWords(dsOf(zone, key), 'ds'),
      dnskey: inWords(key.dnskey, 'dnskey'),
      created: timestamp(key.createdAt),
    })),
    looked_at: signing.dsLookedAt === null ? null : timestamp(signing.dsLookedAt),
    fault: signing.dsFault,
  }
}

/** As records are written (RFC 4034): both begin with 16 bits, 8 bits and 8 bits. */
function inWords(data: Buffer, kind: 'ds' | 'dnskey'): string {
  const rest = data.subarray(4)
  const text = kind === 'ds' ? rest.toString('hex').toUpperCase() : rest.toString('base64')
  return `${data.readUInt16BE(0)} ${data[2]} ${data[3]} ${text}`
}
