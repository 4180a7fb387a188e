import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { List, Pages } from '../parts/list.tsx'
import { useLoad } from '../parts/use-load.ts'
import { activityTexts as texts } from '../texts/activity.ts'
import { timeOf } from '../time.ts'

/** The activity log of an account, or of one site. */
export function Activity({ siteId }: { readonly siteId?: number }) {
  const page = useSignal(1)
  const body = { page: page.value, per_page: 25 }
  const entries = useLoad(
    () =>
      siteId === undefined
        ? ask(() => api.POST('/v1/account/logs/activity', { body }))
        : ask(() => api.POST('/v1/sites/{id}/logs/activity', { params: { path: { id: siteId } }, body })),
    [page.value],
  )
  return (
    <>
      <List
        from={entries}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(entry) => [
          timeOf(entry.timestamp),
          entry.message || entry.description,
          entry.accountEmail ?? texts.byStead,
        ]}
      />
      <Pages page={entries.got.value?.page} turn={(to) => (page.value = to)} />
    </>
  )
}

export const ActivityPage = () => (
  <>
    <h1>{texts.title}</h1>
    <Activity />
  </>
)
