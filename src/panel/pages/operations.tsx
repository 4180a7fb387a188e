import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { List, Pages } from '../parts/list.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { timeOf } from '../time.ts'

const said = { cancel: 'It is being canceled.', retry: 'It is tried again.', undo: 'It is being taken back.' }

/** Background work of an account, or of one site: how it fares, and what can be done about it. */
export function Operations({ siteId }: { readonly siteId?: number }) {
  const page = useSignal(1)
  const query = { page: page.value, per_page: 20, ...(siteId !== undefined && { site_id: siteId }) }
  const operations = useLoad(() => ask(() => api.GET('/v1/operations', { params: { query } })), [page.value])
  const act = (verb: 'cancel' | 'retry' | 'undo', id: number) =>
    attempt(async () => {
      await ask(() => api.POST(`/v1/operations/{id}/${verb}`, { params: { path: { id } } }))
      told(said[verb])
      await operations.reload()
    })
  return (
    <>
      <List
        from={operations}
        caption="Operations"
        head={['What', 'State', 'Ordered', 'Done', 'Actions']}
        empty="Nothing has been done in the background yet."
        row={(one) => [
          <>
            {one.type}
            {one.error && <p class="fault">{one.error}</p>}
          </>,
          <span class={`state ${one.state}`}>{one.state}</span>,
          timeOf(one.createdAt),
          `${one.progress} %`,
          one.type === 'site.restore' && one.state === 'succeeded' ? (
            <button type="button" onClick={act('undo', one.id)}>
              Take it back
            </button>
          ) : one.state === 'failed' ? (
            <button type="button" onClick={act('retry', one.id)}>
              Try again
            </button>
          ) : (
            !one.finishedAt && (
              <button type="button" onClick={act('cancel', one.id)}>
                Cancel
              </button>
            )
          ),
        ]}
      />
      <Pages page={operations.got.value?.page} turn={(to) => (page.value = to)} />
    </>
  )
}

export const OperationsPage = () => (
  <>
    <h1>Operations</h1>
    <Operations />
  </>
)
