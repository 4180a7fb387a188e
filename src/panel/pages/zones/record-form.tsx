import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, Refusal } from '../../api.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Select } from '../../parts/select.tsx'
import { zonesTexts as texts } from '../../texts/zones.ts'

export type DnsRecord = components['schemas']['DnsRecord']

type Draft = components['schemas']['NewDnsRecord']
type RecordType = keyof typeof texts.types

const types = Object.keys(texts.types) as RecordType[]
const typeOf = (text: string): RecordType => types.find((each) => each === text) ?? 'A'
/** Additional fields of a type. */
const numbers: Partial<Record<RecordType, readonly ('priority' | 'weight' | 'port')[]>> = {
  MX: ['priority'],
  SRV: ['priority', 'weight', 'port'],
}

const add = (zone: number, body: Draft) =>
  ask(() => api.POST('/v1/zones/{zone_id}/records', { params: { path: { zone_id: zone } }, body }))

const draftOf = ({ type, name, value, ttl, priority, weight, port }: DnsRecord): Draft => ({
  ...{ type, name, value, ttl },
  ...(priority !== null && { priority }),
  ...(weight !== null && { weight }),
  ...(port !== null && { port }),
})

/** Creates the new record before it deletes the old one, if both can exist. A refusal leaves the old one. */
async function change(record: DnsRecord, draft: Draft): Promise<void> {
  const { zoneId, id } = record
  const path = { zone_id: zoneId, id }
  const drop = () => ask(() => api.DELETE('/v1/zones/{zone_id}/records/{id}', { params: { path } }))
  try {
    await add(zoneId, draft)
    await drop()
  } catch (error) {
    const isInTheWay = error instanceof Refusal && ['record_exists', 'record_conflict'].includes(error.code)
    if (!isInTheWay) throw error
    await drop()
    await add(zoneId, draft).catch(async (refused: unknown) => {
      await add(zoneId, draftOf(record))
      throw refused
    })
  }
}

export function RecordForm(props: {
  readonly zone: number
  readonly zoneName: string
  readonly record: DnsRecord | undefined
  onClose(): void
}) {
  const { zone, zoneName, record, onClose } = props
  const type = useSignal<RecordType>(typeOf(record?.type ?? 'A'))
  const asked = numbers[type.value] ?? []
  return (
    <Dialog title={record ? texts.changeOf(record.type, record.name || texts.itself) : texts.add} onClose={onClose}>
      <Select
        label={texts.type}
        options={texts.types}
        value={type.value}
        set={(to) => {
          type.value = to
        }}
      />
      <Form
        fields={[
          {
            ...{ name: 'name', label: texts.name, hint: texts.nameHint(zoneName) },
            ...{ value: record?.name ?? '', isOptional: true, autocomplete: 'off' },
          },
          { name: 'value', label: texts.values[type.value], value: record?.value ?? '', autocomplete: 'off' },
          ...asked.map(
            (name) => ({ name, label: texts[name], type: 'number', value: String(record?.[name] ?? '') }) as const,
          ),
          { name: 'ttl', label: texts.ttl, type: 'number', value: String(record?.ttl ?? ''), isOptional: true },
        ]}
        button={record ? texts.changeIt : texts.addIt}
        submit={async ({ name = '', value = '', ttl, ...rest }) => {
          const draft: Draft = {
            ...{ type: type.value, name, value },
            ...(ttl && { ttl: Number(ttl) }),
            ...Object.fromEntries(asked.map((each) => [each, Number(rest[each])])),
          }
          await (record ? change(record, draft) : add(zone, draft))
          onClose()
        }}
      />
    </Dialog>
  )
}
