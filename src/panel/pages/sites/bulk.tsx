import { signal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, messageOf } from '../../api.ts'
import { changes } from '../../live.ts'
import { Button } from '../../parts/button.tsx'
import { type Right, SitesRights, useRefusal } from '../../parts/rights.tsx'
import { Select } from '../../parts/select.tsx'
import { bulkTexts as texts } from '../../texts/sites.ts'
import { choose, chosen } from './choice.ts'

type Action = keyof typeof texts.actions

/** Requests at once: the sites of one host take their turns anyway. */
const AT_ONCE = 4

/** What the API calls it. */
const rights: Record<Action, Right> = {
  'purge-edge': 'purgeEdgeCache',
  'purge-object': 'purgeObjectCache',
  close: 'toggleMaintenance',
  open: 'toggleMaintenance',
  'backup-db': 'createOndemandBackup',
  'backup-fs': 'createOndemandBackup',
  update: 'updateCmsVersion',
  tag: 'addSiteTags',
}

/** What is done with one site: the same request as on its own page. */
const actions: Record<Action, (id: number, tag: string) => Promise<unknown>> = {
  'purge-edge': (id) => ask(() => api.DELETE('/v1/sites/{id}/edge-cache', { params: { path: { id } } })),
  'purge-object': (id) =>
    ask(() => api.DELETE('/v1/sites/{site_id}/object-cache', { params: { path: { site_id: id } } })),
  close: (id) => maintain(id, true),
  open: (id) => maintain(id, false),
  'backup-db': (id) => backUp(id, 'db'),
  'backup-fs': (id) => backUp(id, 'fs'),
  update: (id) => {
    const params = { path: { site_id: id } }
    return ask(() => api.PUT('/v1/sites/{site_id}/cms/version', { params, body: { version: 'latest' } }))
  },
  tag: (id, tag) =>
    ask(() => api.POST('/v1/sites/{id}/tags', { params: { path: { id } }, body: { tag_names: [tag] } })),
}

const maintain = (id: number, enabled: boolean) =>
  ask(() => api.PUT('/v1/sites/{id}/maintenance-mode', { params: { path: { id } }, body: { enabled } }))

const backUp = (id: number, backup_type: 'fs' | 'db') =>
  ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params: { path: { id } }, body: { backup_type } }))

interface Run {
  readonly about: string
  readonly all: number
  readonly done: number
  readonly faults: readonly string[]
  readonly isStopped: boolean
}

/** Goes on while other pages are looked at. */
const run = signal<Run | undefined>(undefined)
const action = signal<Action>('purge-edge')
const tag = signal('')

async function begin(what: Action): Promise<void> {
  const waiting = [...chosen.value]
  const work = actions[what]
  const label = tag.value.trim()
  run.value = { about: texts.actions[what], all: waiting.length, done: 0, faults: [], isStopped: false }
  const change = (to: Partial<Run>) => {
    if (run.value) run.value = { ...run.value, ...to }
  }
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (run.value?.isStopped) return
      const [id, name] = next
      try {
        await work(id, label)
        choose(id, name, false)
      } catch (error) {
        change({ faults: [...(run.value?.faults ?? []), texts.of(name, messageOf(error))] })
      }
      change({ done: (run.value?.done ?? 0) + 1 })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  changes.value++
}

type Listed = Pick<components['schemas']['Site'], 'id' | 'displayName'>

/** Does one thing with each site that is chosen; one that it could not be done with stays chosen, with the reason. */
export function Bulk({ page }: { readonly page: readonly Listed[] }) {
  const count = chosen.value.size
  const isOn = run.value && run.value.done < run.value.all && !run.value.isStopped
  if (count === 0 && !run.value) return null
  return (
    <section class="sheet" aria-label={texts.title}>
      <div class="filters">
        <p>{texts.chosen(count)}</p>
        <p class="row">
          <Button
            onClick={() => {
              for (const { id, displayName } of page) choose(id, displayName, true)
            }}
          >
            {texts.page}
          </Button>
          <Button
            onClick={() => {
              chosen.value = new Map()
            }}
          >
            {texts.none}
          </Button>
        </p>
        <SitesRights ids={[...chosen.value.keys()]}>
          <Choice isOn={Boolean(isOn)} />
        </SitesRights>
      </div>
      {run.value && <Going run={run.value} isOn={Boolean(isOn)} />}
    </section>
  )
}

/** What there is to do, without what may be done with none of them. */
function Choice({ isOn }: { readonly isOn: boolean }) {
  const all = Object.entries(texts.actions) as [Action, string][]
  // a hook each: they are always the same ones
  const offered = all.filter(([each, what]) => useRefusal(rights[each], what) === undefined)
  const [now] = offered.find(([each]) => each === action.value) ?? offered[0] ?? []
  if (!now) return null
  return (
    <>
      <Select
        label={texts.what}
        options={Object.fromEntries(offered) as Partial<Record<Action, string>>}
        value={now}
        set={(to) => {
          action.value = to
        }}
      />
      {now === 'tag' && (
        <label>
          <span>{texts.tag}</span>
          <input
            value={tag.value}
            onInput={({ currentTarget }) => {
              tag.value = currentTarget.value
            }}
          />
        </label>
      )}
      <p>
        <Button isMain isDisabled={isOn || chosen.value.size === 0} onClick={() => void begin(now)}>
          {texts.go}
        </Button>
      </p>
    </>
  )
}

const Going = ({ run: shown, isOn }: { readonly run: Run; readonly isOn: boolean }) => {
  const about = texts.progress(shown.about, shown.done, shown.all)
  return (
    <div role="status" aria-live="polite">
      <div class="row spread">
        <span>{about}</span>
        <Button
          onClick={() => {
            run.value = isOn ? { ...shown, isStopped: true } : undefined
          }}
        >
          {isOn ? texts.stop : texts.close}
        </Button>
      </div>
      <progress max={shown.all} value={shown.done} aria-label={about} />
      {shown.faults.length > 0 && (
        <details open>
          <summary class="fault">{texts.failed(shown.faults.length)}</summary>
          <ul class="plain">
            {shown.faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
