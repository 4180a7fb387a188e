import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { zonesTexts as texts } from '../../texts/zones.ts'
import { DnssecPart } from './dnssec.tsx'
import { RecordForm } from './record-form.tsx'
import { MailPart, ZoneFilePart } from './zone-file.tsx'

export type DnsRecord = components['schemas']['DnsRecord']

const nameOf = ({ name }: DnsRecord): string => name || texts.itself

/** A zone: its records, and what is done with all of them. */
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
  if (!got) return <p class={zone.fault.value ? 'fault' : 'quiet'}>{zone.fault.value || texts.reading}</p>
  return (
    <>
      <h1>
        <a href="#/zones" class="up">
          {texts.title}
        </a>
        {got.data.name}
      </h1>
      <section class="sheet">
        <div class="row spread">
          <h2>{texts.records}</h2>
          <Button onClick={write()}>{texts.add}</Button>
        </div>
        <List
          from={{ got: { value: { data: got.data.records } }, fault: zone.fault }}
          caption={texts.records}
          head={texts.recordsHead}
          empty={texts.noRecords}
          row={(record) => [
            nameOf(record),
            record.type,
            <>
              <code>{record.value}</code>{' '}
              {record.siteId !== null && <a href={`#/sites/${record.siteId}/domains`}>{texts.leadsToSite}</a>}
            </>,
            [record.priority, record.weight, record.port].filter((each) => each !== null).join(' '),
            record.ttl,
            <span class="row">
              {record.siteId === null && (
                <Button label={texts.changeOf(record.type, nameOf(record))} onClick={write(record)}>
                  {texts.change}
                </Button>
              )}
              <Button isBad label={texts.deleteOf(record.type, nameOf(record))} onClick={drop(record)}>
                {texts.delete}
              </Button>
            </span>,
          ]}
        />
      </section>
      <div class="columns">
        <MailPart id={id} reload={zone.reload} />
        <ZoneFilePart id={id} reload={zone.reload} />
        <DnssecPart id={id} />
      </div>
      {written.value && (
        <RecordForm
          zone={id}
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
