import { api, ask } from '../../api.ts'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { zonesTexts as texts } from '../../texts/zones.ts'
import { timeOf } from '../../time.ts'
import { ZonePage } from './zone-page.tsx'

/** Zones of DNS, or one of them. */
export function ZonesPage({ id }: { readonly id: string | undefined }) {
  return id === undefined ? <Zones /> : <ZonePage key={id} id={Number(id)} />
}

function Zones() {
  const zones = useLoad(() => ask(() => api.GET('/v1/zones')))
  return (
    <>
      <h1>{texts.title}</h1>
      <List
        from={zones}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(zone) => [<a href={`#/zones/${zone.id}`}>{zone.name}</a>, timeOf(zone.created)]}
      />
    </>
  )
}
