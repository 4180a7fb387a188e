import Type from 'typebox'
import { invalidInput, Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { zoneToChange } from '../reserved.ts'
import { changeValue, deleteRecords, insertRecords, recordsOfZone } from '../zone.store.ts'
import {
  aliases,
  type MailProvider,
  mailProviders,
  type Provider,
  providerRecords,
  providers,
} from './mail-providers.ts'
import { type DnsRecord, MOST_RECORDS, type RecordDraft, ZoneId } from './record.ts'
import { isSpf, mergedSpf, spfWithout } from './spf.ts'

export const applyMailProvider = endpoint({
  id: 'applyMailProvider',
  method: 'POST',
  path: '/v1/zones/{zone_id}/providers',
  summary: 'Add the records of a mail provider',
  description:
    "Adds MX, SPF and other records that the provider requires. The activity log names records that you find only in the provider's administration, such as DKIM and " +
    'proof of ownership. Stead replaces the records of another of these providers and extends an existing SPF record. If the provider is already set up, nothing changes. ' +
    'Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  body: Type.Object(
    {
      provider: Type.String({
        maxLength: 100,
        description: `${mailProviders.join(', ')}; also ${Object.keys(aliases).join(', ')}`,
        examples: ['google_workspace'],
      }),
    },
    { title: 'MailProvider' },
  ),
  response: Nothing,
  problems: [
    authenticationProblems.forbidden,
    problems.reserved_name,
    problems.record_conflict,
    problems.record_limit_reached,
  ],

  async handle(context, { params, body }) {
    const { tx, now } = context
    const zone = await zoneToChange(context, params.zone_id)
    const asked = body.provider.trim().toLowerCase()
    const code =
      mailProviders.find((each) => each === asked) ?? (Object.hasOwn(aliases, asked) ? aliases[asked] : undefined)
    if (!code) throw invalidInput([`provider: must be one of ${mailProviders.join(', ')}`])
    const provider = providers[code]
    const plan = planFor(code, zone.name, await recordsOfZone(tx, zone.id))
    await deleteRecords(tx, zone.id, plan.remove, now)
    if (plan.spf) await changeValue(tx, plan.spf.record, plan.spf.value, now)
    if (plan.add.length > 0) await insertRecords(tx, zone.id, plan.add, now)
    const hint = provider.missing ? `. ${provider.missing}` : ''
    await context.record({
      action: actions.dns,
      message: `${zone.name}: added the records of ${provider.title}${hint}`,
    })
    return null
  },
})

interface Plan {
  readonly remove: number[]
  readonly spf: { record: DnsRecord; value: string } | undefined
  readonly add: RecordDraft[]
}

/** @throws Problem `record_conflict` when records that belong to no provider are in the way, `record_limit_reached` */
function planFor(code: MailProvider, zone: string, records: readonly DnsRecord[]): Plan {
  const provider = providers[code]
  const wanted = providerRecords(provider, zone)
  const others = mailProviders.filter((each) => each !== code).flatMap((each) => providerRecords(providers[each], zone))
  const isOf = (list: readonly RecordDraft[]) => (record: DnsRecord) =>
    list.some(({ type, name, value }) => record.type === type && record.name === name && record.value === value)
  const replaced = records.filter((record) => isOf(others)(record) && !isOf(wanted)(record))
  const left = records.filter((record) => !replaced.includes(record))
  const missing = wanted.filter(
    (draft) =>
      !left.some(({ type, name, value }) => draft.type === type && draft.name === name && draft.value === value),
  )
  for (const { type, name } of missing) {
    const inTheWay = left.find((each) => each.name === name && (type === 'CNAME' || each.type === 'CNAME'))
    if (inTheWay) {
      const reason = `${name}.${zone} has ${inTheWay.type} records, but the provider requires ${type}`
      throw new Problem(problems.record_conflict, { reason })
    }
  }
  const spf = left.find((record) => record.type === 'TXT' && record.name === '' && isSpf(record.value))
  const gone = mailProviders.filter((each) =>
    providerRecords(providers[each], zone).some((draft) => draft.type === 'MX' && replaced.some(isOf([draft]))),
  )
  const text = { type: 'TXT', name: '', value: provider.spf, priority: null, weight: null, port: null } as const
  const ttlOf = (draft: RecordDraft) =>
    left.find(({ type, name }) => type === draft.type && name === draft.name)?.ttl ?? draft.ttl
  const add = [...missing, ...(spf ? [] : [{ ...text, ttl: 3600, siteId: null }])].map((draft) => ({
    ...draft,
    ttl: ttlOf(draft),
  }))
  if (left.length + add.length > MOST_RECORDS) throw new Problem(problems.record_limit_reached, { limit: MOST_RECORDS })
  return { remove: replaced.map(({ id }) => id), spf: spf && spfChange(spf, provider, gone), add }
}

/** Returns the change of the SPF record. A replaced provider no longer sends mail for the zone. */
function spfChange(record: DnsRecord, provider: Provider, gone: readonly MailProvider[]): Plan['spf'] {
  const kept = gone.reduce((text, each) => spfWithout(text, providers[each].spf), record.value)
  const value = mergedSpf(kept, provider.spf)
  return value === record.value ? undefined : { record, value }
}
