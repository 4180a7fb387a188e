import { api, ask } from '../../api.ts'
import { Empty } from '../../parts/empty.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { zonesTexts as texts } from '../../texts/zones.ts'
import { dayOf } from '../../time.ts'
import { ZonePage } from './zone-page.tsx'

/** The DNS zones, or one of them. */
export function ZonesPage({ id }: { readonly id: string | undefined }) {
  return id === undefined ? <Zones /> : <ZonePage key={id} id={Number(id)} />
}

interface Zone {
  readonly id: number
  readonly name: string
  readonly created: string
}

const sorts = [
  { key: 'name', by: ({ name }: Zone) => name },
  { key: 'created', by: ({ created }: Zone) => created, isLargestFirst: true },
]

function Zones() {
  const zones = useLoad(() => ask(() => api.GET('/v1/zones')))
  return (
    <>
      <div class="head">
        <h1>{texts.heading}</h1>
      </div>
      <List
        from={zones}
        caption={texts.title}
        head={texts.head}
        columns={['wide', '']}
        sorts={sorts}
        isCards
        empty={
          <div class="card">
            <Empty icon="globe" title={texts.emptyTitle} text={texts.empty} />
          </div>
        }
        row={(zone) => [
          <span class="who">
            <a class="name" href={`#/zones/${zone.id}`}>
              {zone.name}
            </a>
          </span>,
          dayOf(zone.created),
        ]}
      />
    </>
  )
}
