import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Filters, filterOf } from '../../parts/filters.tsx'
import { List } from '../../parts/list.tsx'
import { UPDATES } from '../../parts/update-many.ts'
import { itemsOf, UpdateReport, updateBadges } from '../../parts/update-report.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { manyUpdatesTexts as texts } from '../../texts/many-updates.ts'
import { safeUpdatesTexts } from '../../texts/site/safe-updates.ts'
import { timeOf } from '../../time.ts'

type Update = components['schemas']['SafeUpdateOfSite']

const PER_PAGE = 25

const { states, report } = safeUpdatesTexts

const isState = (value: string): value is Update['state'] => Object.hasOwn(states, value)

/** The safe updates of all sites that the person sees, newest first, with their reports. */
export function AllUpdates() {
  const state = filterOf('state')
  const query = { after: placeShown(), per_page: PER_PAGE, ...(isState(state) && { state }) }
  const updates = useLoad(() => ask(() => api.GET('/v1/safe-updates', { params: { query } })), [placeShown(), state])
  const shown = useSignal<Update | undefined>(undefined)
  return (
    <>
      <div class="row spread top-aligned">
        <Filters of={[{ name: 'state', label: texts.state, options: states }]} />
      </div>
      <List
        from={updates}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        columns={['', '', 'wide', 'extra', 'actions below']}
        isCards
        isStacked
        empty={
          <div class="card">
            {state ? (
              <Empty icon="search" title={texts.noneTitle} text={texts.none} />
            ) : (
              <Empty icon="shield" title={texts.emptyTitle} text={texts.empty} />
            )}
          </div>
        }
        row={(update) => [
          <a class="name" href={`#/sites/${update.site_id}/plugins`}>
            {update.display_name}
          </a>,
          <span class={`badge ${updateBadges[update.state]}`}>{states[update.state]}</span>,
          <span>
            {itemsOf(update)}
            {update.reason !== null && <span class="sub">{update.reason}</span>}
          </span>,
          timeOf(update.created_at),
          <span class="row nowrap">
            <Button
              isSmall
              label={texts.reportOf(update.display_name, timeOf(update.created_at))}
              onClick={() => {
                shown.value = update
              }}
            >
              {report}
            </Button>
            {update.batch_id !== null && (
              <a
                class="button sm ghost"
                href={`#${UPDATES}&batch=${update.batch_id}`}
                aria-label={texts.partOfBatch(update.display_name)}
              >
                {texts.partOf}
              </a>
            )}
          </span>,
        ]}
      />
      <CursorPages next={updates.got.value?.next} />
      {shown.value && (
        <UpdateReport id={shown.value.site_id} update={shown.value} onClose={() => (shown.value = undefined)} />
      )}
    </>
  )
}
