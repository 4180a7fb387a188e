import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Callout } from '../../parts/callout.tsx'
import { Change, Changes } from '../../parts/changes.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Skeleton } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { relocateTexts as texts } from '../../texts/site/relocate.ts'
import type { PartProps } from './part.ts'

type Host = components['schemas']['SiteHost']

const free = ({ sites, max_sites }: Host): number => max_sites - sites

/** Asks the operator for the host that a site moves to, and moves it. */
export function Relocate({ site, id, act, onClose }: PartProps & { onClose(): void }) {
  const path = { params: { path: { id } } }
  const { got, fault } = useLoad(() => ask(() => api.GET('/v1/sites/{id}/hosts', path)), [id])
  const chosen = useSignal<string | undefined>(undefined)
  const hosts = got.value?.data
  const fit = (hosts ?? []).filter(({ reason }) => reason === null)
  const [roomiest] = [...fit].sort((left, right) => free(right) - free(left))
  const to = fit.find(({ name }) => name === chosen.value) ?? roomiest
  return (
    <Dialog title={texts.title(site.displayName)} isWide onClose={onClose}>
      {fault.value && <p class="fault">{fault.value}</p>}
      {!hosts && !fault.value && <Skeleton />}
      {hosts && !to && <Callout kind="warn">{texts.none}</Callout>}
      {hosts && (
        <Form
          fields={[]}
          button={texts.move}
          isForgotten
          isHeld={!to}
          submit={async () => {
            if (!to) return
            const got = await ask(() => api.POST('/v1/sites/{id}/relocate', { ...path, body: { host: to.name } }))
            onClose()
            act(texts.moving(to.name), async () => got)()
          }}
        >
          <fieldset class="picks wide" aria-label={texts.hosts}>
            {hosts.map((host) => (
              <Choice key={host.name} of={host} isChosen={host === to} choose={(name) => (chosen.value = name)} />
            ))}
          </fieldset>
          {to && (
            <Changes label={texts.notice}>
              <Change kind="kept">{texts.copied}</Change>
              <Change kind="changed">{texts.closed}</Change>
              <Change kind="changed">{texts.ended}</Change>
              <Change kind="kept">{texts.safe}</Change>
            </Changes>
          )}
        </Form>
      )}
    </Dialog>
  )
}

function Choice({
  of: host,
  isChosen,
  choose,
}: {
  readonly of: Host
  readonly isChosen: boolean
  choose(name: string): void
}) {
  const { name, reason, current, sites, max_sites, php_versions } = host
  return (
    <label class="pick">
      <input
        type="radio"
        name="host"
        value={name}
        checked={isChosen}
        disabled={reason !== null}
        onChange={() => choose(name)}
      />
      <span>
        {name} {current && <span class="badge">{texts.current}</span>}
        {host.state !== 'active' && <span class="badge warn">{texts.states[host.state]}</span>}
        <span class="quiet small">{texts.room(sites, max_sites)}</span>
        <span class="quiet small">{texts.php(php_versions)}</span>
        {reason !== null && !current && <span class="quiet small">{reason}</span>}
      </span>
    </label>
  )
}
