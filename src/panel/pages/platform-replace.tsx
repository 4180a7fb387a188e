import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Change, Changes } from '../parts/changes.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { showWork } from '../parts/work.ts'
import { replaceTexts as texts } from '../texts/hosts.ts'
import type { Health } from './platform-tables.tsx'

type Host = Health['hosts'][number]

const free = ({ sites, max_sites }: Host): number => max_sites - sites

/** Asks the operator for the host that gets all sites of another one, and replaces that one. */
export function ReplaceDialog(props: {
  readonly of: Host
  /** Hosts that take sites. */
  readonly others: readonly Host[]
  onChange(): unknown
  onClose(): void
}) {
  const { of: host, others, onChange, onClose } = props
  const chosen = useSignal<string | undefined>(undefined)
  const sorted = [...others].sort((left, right) => free(right) - free(left))
  const to = sorted.find(({ name }) => name === chosen.value) ?? sorted[0]
  const replace = async () => {
    if (!to) return
    const request = { params: { path: { name: host.name } }, body: { to: to.name } }
    const { operationId } = await ask(() => api.PUT('/v1/installation/hosts/{name}/replace', request))
    onClose()
    if (operationId !== undefined) showWork(operationId, texts.work(host.name, to.name), onChange)
    await onChange()
  }
  return (
    <Dialog title={texts.title(host.name)} isWide onClose={onClose}>
      <Form fields={[]} button={texts.replace} isForgotten isHeld={!to} submit={replace}>
        <fieldset class="picks wide" aria-label={texts.to}>
          {sorted.map(({ name, sites, max_sites }) => (
            <label key={name} class="pick">
              <input
                type="radio"
                name="host"
                value={name}
                checked={name === to?.name}
                onChange={() => (chosen.value = name)}
              />
              <span>
                {name}
                <span class="quiet small">{texts.room(sites, max_sites)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Changes label={texts.notice}>
          <Change kind="changed">{texts.moved}</Change>
          <Change kind="deleted">{texts.removed}</Change>
          <Change kind="kept">{texts.safe}</Change>
        </Changes>
      </Form>
    </Dialog>
  )
}
