import { useSignal } from '@preact/signals'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Callout } from '../parts/callout.tsx'
import { Change, Changes } from '../parts/changes.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List, Skeleton } from '../parts/list.tsx'
import { told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { showWork } from '../parts/work.ts'
import { rebalanceTexts as texts } from '../texts/hosts.ts'
import { from } from './platform-tables.tsx'

type Plan = components['schemas']['Rebalance']

const rebalance = (body: { dry_run: boolean }) => ask(() => api.POST('/v1/installation/hosts/rebalance', { body }))

/** Moves sites from full hosts to emptier ones, after a look at the plan. */
export function Rebalance({ onChange }: { onChange(): unknown }) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button isSmall of="rebalanceHosts" onClick={() => (isOpen.value = true)}>
        {texts.rebalance}
      </Button>
      {isOpen.value && <PlanDialog onChange={onChange} onClose={() => (isOpen.value = false)} />}
    </>
  )
}

function PlanDialog({ onChange, onClose }: { onChange(): unknown; onClose(): void }) {
  const { got, fault } = useLoad(() => rebalance({ dry_run: true }), [])
  const plan = got.value?.data
  const count = plan?.moves.length ?? 0
  const go = async () => {
    const { data, operationId } = await rebalance({ dry_run: false })
    onClose()
    if (operationId === undefined) told(texts.balanced)
    else showWork(operationId, texts.work(data.moves.length), onChange)
    await onChange()
  }
  return (
    <Dialog title={texts.title} isWide onClose={onClose}>
      {fault.value && <p class="fault">{fault.value}</p>}
      {!plan && !fault.value && <Skeleton />}
      {plan && (
        <div class="stack-14">
          <Loads of={plan} />
          {count === 0 && <Callout kind="info">{texts.balanced}</Callout>}
          {count > 0 && (
            <Form fields={[]} button={texts.move(count)} isForgotten submit={go}>
              <div class="stack-14">
                <h3>{texts.moves}</h3>
                <Moves of={plan} />
                <Changes label={texts.notice}>
                  <Change kind="changed">{texts.closed}</Change>
                  <Change kind="kept">{texts.safe}</Change>
                </Changes>
              </div>
            </Form>
          )}
        </div>
      )}
    </Dialog>
  )
}

const Loads = ({ of: { hosts, moves } }: { readonly of: Plan }) => (
  <>
    <p class="quiet">{texts.about}</p>
    <List
      from={from(hosts)}
      caption={texts.loads}
      head={moves.length > 0 ? texts.loadsHead : texts.loadsHead.slice(0, 2)}
      columns={['wide', 'whole', 'whole']}
      kept="rebalanceLoads"
      empty={texts.noHosts}
      row={({ name, load, load_after }) => [
        <b key="name">{name}</b>,
        texts.percent(load),
        ...(moves.length > 0 ? [texts.percent(load_after)] : []),
      ]}
    />
  </>
)

const Moves = ({ of: { moves } }: { readonly of: Plan }) => (
  <List
    from={from(moves)}
    caption={texts.moves}
    head={texts.movesHead}
    columns={['wide', 'whole', 'whole']}
    kept="rebalanceMoves"
    empty={texts.balanced}
    isStacked
    row={({ site, from: old, to, visits }) => [<b key="site">{site}</b>, texts.way(old, to), texts.visits(visits)]}
  />
)
