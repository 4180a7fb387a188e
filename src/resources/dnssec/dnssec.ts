import Type from 'typebox'
import { dsOf } from '../../dns/signing/signing-key.ts'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { Key, Signing } from './key.store.ts'

const KeySchema = Type.Object(
  {
    tag: Type.Integer({ examples: [20326] }),
    state: Type.String({
      description: '`published`: Stead waits for its DS record. `active`: it signs. `retired`: Stead will remove it',
      examples: ['active'],
    }),
    has_ds: Type.Boolean({ description: 'Whether the parent zone contained its DS record at the last check' }),
    ds: Type.String({ description: 'DS record for the registrar', examples: ['20326 13 2 E06D44B8…'] }),
    dnskey: Type.String({
      description: 'Public key, for registrars that require it',
      examples: ['257 3 13 mdsswUyr…'],
    }),
    created: Timestamp,
  },
  { title: 'DnssecKey' },
)

export const DnssecSchema = Type.Object(
  {
    enabled: Type.Boolean(),
    status: Type.String({
      description:
        '`off`: not signed. `signed`: signed, but without a DS record. `secure`: resolvers verify the signatures. `rolling`: Stead is replacing the key. `leaving`: signed until ' +
        'no resolver trusts the key',
      examples: ['signed'],
    }),
    advice: Type.String({
      description: 'What to do next',
      examples: ['Give the DS record to the registrar of the domain.'],
    }),
    keys: Type.Array(KeySchema),
    looked_at: nullable(Timestamp),
    fault: nullable(Type.String({ description: 'Why Stead could not check the parent zone', examples: [null] })),
  },
  { title: 'Dnssec' },
)

type Status = 'off' | 'signed' | 'secure' | 'rolling' | 'leaving'

function statusOf({ dnssec, keys }: Signing): Status {
  if (dnssec !== 'on') return dnssec
  if (keys.length > 1) return 'rolling'
  return keys.some(({ hasDs }) => hasDs) ? 'secure' : 'signed'
}

/** The next action for the person who manages a signed zone. */
export function adviceOf(signing: Signing): string {
  const { keys } = signing
  const tags = (chosen: readonly Key[]) => chosen.map(({ tag }) => tag).join(' and ')
  switch (statusOf(signing)) {
    case 'off':
      return 'The zone is not signed. Turn on DNSSEC to get a DS record for the registrar of the domain.'
    case 'signed':
      return 'Give the DS record to the registrar of the domain. Until then, resolvers do not verify the signatures.'
    case 'secure':
      return 'You need not do anything.'
    case 'leaving': {
      const named = keys.filter(({ hasDs }) => hasDs)
      return named.length > 0
        ? `Ask the registrar to remove the DS record of key ${tags(named)}. Signing ends three days after its removal.`
        : 'You need not do anything. Signing ends when the DS record has expired in all resolvers.'
    }
    case 'rolling': {
      const next = keys.filter(({ state }) => state === 'published')
      if (next.some(({ hasDs }) => !hasDs))
        return `Give the DS record of key ${tags(next)} to the registrar. You can keep or replace the old one.`
      const old = keys.filter(({ state, hasDs }) => state === 'retired' && hasDs)
      return old.length > 0
        ? `Ask the registrar to remove the DS record of key ${tags(old)}.`
        : 'You need not do anything. Stead changes the keys when the old state has expired in all resolvers.'
    }
  }
}

/** @param zone the zone's name */
export function presentDnssec(zone: string, signing: Signing): Type.Static<typeof DnssecSchema> {
  return {
    enabled: signing.dnssec === 'on',
    status: statusOf(signing),
    advice: adviceOf(signing),
    keys: signing.keys.map((key) => ({
      tag: key.tag,
      state: key.state,
      has_ds: key.hasDs,
      ds: describeRecord(dsOf(zone, key), 'ds'),
      dnskey: describeRecord(key.dnskey, 'dnskey'),
      created: timestamp(key.createdAt),
    })),
    looked_at: signing.dsLookedAt === null ? null : timestamp(signing.dsLookedAt),
    fault: signing.dsFault,
  }
}

/** Formats the data of a record (RFC 4034). Both types begin with fields of 16, 8 and 8 bits. */
function describeRecord(data: Buffer, kind: 'ds' | 'dnskey'): string {
  const rest = data.subarray(4)
  const text = kind === 'ds' ? rest.toString('hex').toUpperCase() : rest.toString('base64')
  return `${data.readUInt16BE(0)} ${data[2]} ${data[3]} ${text}`
}
