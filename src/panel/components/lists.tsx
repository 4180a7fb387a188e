import { signal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { CursorPages } from '../parts/cursor-pages.tsx'
import { List, Pages } from '../parts/list.tsx'
import { BulkBar, useSelection } from '../parts/selection.tsx'
import { nothing, Specimen } from './specimen.tsx'

interface Site {
  readonly name: string
  readonly kind: string
  readonly visits: number
}

const sites: readonly Site[] = [
  { name: 'my-shop', kind: 'Live', visits: 1040 },
  { name: 'my-blog', kind: 'Staging', visits: 312 },
  { name: 'a-site-with-a-name-that-is-longer-than-most-columns-are-wide', kind: 'Live', visits: 7 },
]
const read = <Row,>(data: readonly Row[] | undefined, fault = '') => ({
  got: signal(data && { data }),
  fault: signal(fault),
})
const page = { currentPage: 2, lastPage: 4, totalItems: 80 } as Parameters<typeof Pages>[0]['page']

function Table() {
  const selection = useSelection<Site>({ keyOf: ({ name }) => name, nameOf: ({ name }) => name })
  return (
    <>
      <Card title="Sites" isFlush>
        <List
          from={read(sites)}
          caption="Sites"
          head={['Site', 'Kind', 'Visits']}
          columns={['wide', '', 'num']}
          empty=""
          isCards
          kept="components"
          selection={selection}
          sorts={[
            { key: 'name', by: ({ name }) => name },
            undefined,
            { key: 'visits', by: ({ visits }) => visits, isLargestFirst: true },
          ]}
          row={({ name, kind, visits }) => [name, kind, visits.toLocaleString()]}
        />
      </Card>
      <BulkBar label="Selected sites" keys={selection.keys}>
        <Button isSmall onClick={nothing}>
          Purge cache
        </Button>
      </BulkBar>
    </>
  )
}

const small = { head: ['Name'], empty: 'No sites match.', row: (name: string) => [name] }

export const Lists = () => (
  <>
    <Specimen name="List with sort, columns, and selection">
      <Table />
    </Specimen>
    <Specimen name="List: empty, loading, failed">
      <div class="columns">
        <List {...small} caption="Empty" from={read<string>([])} />
        <List {...small} caption="Loading" from={read<string>(undefined)} />
        <List {...small} caption="Failed" from={read<string>(undefined, 'The server does not respond.')} />
      </div>
    </Specimen>
    <Specimen name="Pages">
      <Pages page={page} turn={nothing} />
      <CursorPages next={20} />
    </Specimen>
  </>
)
