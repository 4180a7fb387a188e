import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Empty } from '../../parts/empty.tsx'
import { List, Skeleton } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { zonesTexts as texts } from '../../texts/zones.ts'
import { DnssecPart } from './dnssec.tsx'
import { MailPart } from './mail.tsx'
import { type DnsRecord, RecordForm } from './record-form.tsx'
import { ZoneFilePart } from './zone-file.tsx'

const nameOf = ({ name }: DnsRecord): string => name || texts.itself

const sorts = [
  { key: 'name', by: ({ name }: DnsRecord) => name },
  { key: 'type', by: ({ type }: DnsRecord) => type },
  { key: 'value', by: ({ value }: DnsRecord) => value },
  undefined,
  { key: 'ttl', by: ({ ttl }: DnsRecord) => ttl },
]

/** A zone: its records, and actions on all of them. */
export function ZonePage({ id }: { readonly id: number }) {
  const params = { path: { zone_id: id } }
  const zone = useLoad(() => ask(() => api.GET('/v1/zones/{zone_id}/records', { params })), [id])
  const written = useSignal<{ readonly record?: DnsRecord } | undefined>(undefined)
  const write = (record?: DnsRecord) => () => {
    written.value = { record }
  }
  const drop = (record: DnsRecord) =>
    askFirst({
      title: texts.deleteOf(record.type, nameOf(record)),
      text: texts.deleteIs(record.value),
      button: texts.delete,
      async go() {
        const path = { zone_id: id, id: record.id }
        await ask(() => api.DELETE('/v1/zones/{zone_id}/records/{id}', { params: { path } }))
        await zone.reload()
      },
    })
  const got = zone.got.value
  if (!got) return zone.fault.value ? <p class="fault">{zone.fault.value}</p> : <Skeleton />
  return (
    <>
      <div class="head">
        <h1>
          <a href="#/zones" class="up">
            {texts.title}
          </a>
          {got.data.name}
        </h1>
        <div class="right">
          <Button isMain icon="plus" onClick={write()}>
            {texts.add}
          </Button>
        </div>
      </div>
      <Card title={texts.records} isFlush>
        <List
          from={{ got: { value: { data: got.data.records } }, fault: zone.fault }}
          caption={texts.records}
          head={texts.recordsHead}
          hiddenHeads={texts.hiddenHeads}
          columns={['extra', 'extra', 'wide', 'extra num', 'extra num', 'actions']}
          sorts={sorts}
          kept="records"
          stays={[texts.recordsHead[0] ?? '', texts.recordsHead[2] ?? '']}
          isCards
          empty={<Empty icon="globe" title={texts.noRecordsTitle} text={texts.noRecords} />}
          row={(record) => [
            <b>{nameOf(record)}</b>,
            <span class="badge">{record.type}</span>,
            <>
              <span class="row only-phone">
                <b>{nameOf(record)}</b> <span class="badge">{record.type}</span>
              </span>
              <code>{record.value}</code>{' '}
              {record.siteId !== null && <a href={`#/sites/${record.siteId}/domains`}>{texts.leadsToSite}</a>}
            </>,
            [record.priority, record.weight, record.port].filter((each) => each !== null).join(' '),
            record.ttl,
            <span class="row nowrap">
              {record.siteId === null && (
                <Button
                  isSmall
                  isGhost
                  icon="pencil"
                  label={texts.changeOf(record.type, nameOf(record))}
                  onClick={write(record)}
                />
              )}
              <Button
                isSmall
                isGhost
                icon="trash2"
                label={texts.deleteOf(record.type, nameOf(record))}
                onClick={drop(record)}
              />
            </span>,
          ]}
        />
      </Card>
      <div class="grid-12">
        <MailPart id={id} reload={zone.reload} />
        <ZoneFilePart id={id} name={got.data.name} reload={zone.reload} />
        <DnssecPart id={id} />
      </div>
      {written.value && (
        <RecordForm
          zone={id}
          zoneName={got.data.name}
          record={written.value.record}
          onClose={() => {
            written.value = undefined
            void zone.reload()
          }}
        />
      )}
    </>
  )
}
