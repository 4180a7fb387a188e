import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { List } from '../../parts/list.tsx'
import { OperationActions } from '../../parts/operation-actions.tsx'
import { WorkState } from '../../parts/progress.tsx'
import { UPDATES } from '../../parts/update-many.ts'
import { UpdateReport, updateBadges } from '../../parts/update-report.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { followOperation, type Operation } from '../../parts/work.ts'
import { manyUpdatesTexts as texts } from '../../texts/many-updates.ts'
import { safeUpdatesTexts } from '../../texts/site/safe-updates.ts'

type SiteOfBatch = components['schemas']['SafeUpdateBatchSite']

const badges: Readonly<Record<SiteOfBatch['state'], string>> = { ...updateBadges, waiting: '', skipped: '' }

/** A safe update of many sites: its progress, and what became of each site. */
export function BatchOfUpdates({ id }: { readonly id: number }) {
  const path = { id }
  const batch = useLoad(() => ask(() => api.GET('/v1/safe-updates/{id}', { params: { path } })), [id])
  const operation = useLoad(() => ask(() => api.GET('/v1/operations/{id}', { params: { path } })), [id])
  const shown = useSignal<{ readonly site: number; readonly update: number } | undefined>(undefined)
  const reload = async () => void (await Promise.all([batch.reload(), operation.reload()]))
  const isOn = batch.got.value?.data.state === 'in_progress'
  useEffect(() => (isOn ? followOperation(id, () => void reload()) : undefined), [id, isOn])
  const { sites, counts, created_at: at = '' } = batch.got.value?.data ?? {}
  const title = texts.batchTitle(sites?.length ?? 0)
  return (
    <>
      <Card title={title} actions={<a href={`#${UPDATES}`}>{texts.all}</a>}>
        {operation.got.value && <Going operation={operation.got.value.data} onChange={reload} />}
        {counts && (
          <p class="row">
            {(Object.keys(texts.states) as SiteOfBatch['state'][])
              .filter((state) => counts[state] > 0)
              .map((state) => (
                <span key={state} class={`badge ${badges[state]}`}>
                  {texts.counted(counts[state], texts.states[state])}
                </span>
              ))}
          </p>
        )}
      </Card>
      <List
        from={{ fault: batch.fault, got: { value: sites && { data: sites } } }}
        caption={texts.sitesOf}
        head={texts.batchHead}
        hiddenHeads={texts.hiddenHeads}
        columns={['', '', 'wide', 'actions below']}
        isCards
        isStacked
        empty=""
        row={({ site_id: site, display_name: name, state, reason, update_id: update }) => [
          name === null ? (
            <span class="quiet">{texts.hiddenSite}</span>
          ) : (
            <a class="name" href={`#/sites/${site}/plugins`}>
              {name}
            </a>
          ),
          <span class={`badge ${badges[state]}`}>{texts.states[state]}</span>,
          reason,
          name !== null && update !== null && (
            <Button
              isSmall
              label={texts.reportOf(name)}
              onClick={() => {
                shown.value = { site, update }
              }}
            >
              {safeUpdatesTexts.report}
            </Button>
          ),
        ]}
      />
      {shown.value && (
        <UpdateReport
          id={shown.value.site}
          update={{ id: shown.value.update, created_at: at }}
          onClose={() => (shown.value = undefined)}
        />
      )}
    </>
  )
}

const Going = (props: { readonly operation: Operation; onChange(): Promise<void> }) => (
  <>
    <div role="status" aria-live="polite">
      <WorkState about={texts.progress} operation={props.operation} />
    </div>
    <p class="row">
      <OperationActions of={props.operation} onChange={props.onChange} />
    </p>
  </>
)
