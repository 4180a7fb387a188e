import { signal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, messageOf } from '../../api.ts'
import { changes } from '../../live.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import type { IconName } from '../../parts/icons.ts'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { type Right, SitesRights } from '../../parts/rights.tsx'
import { manyUpdates } from '../../parts/update-many.ts'
import { bulkTexts as texts } from '../../texts/bulk.ts'
import { manyUpdatesTexts } from '../../texts/many-updates.ts'
import { choose, chooseAll, chosen } from './choice.ts'

type Action = keyof typeof texts.actions

/** Concurrent requests: the sites of one host take turns anyway. */
const AT_ONCE = 4

/** The API operation. */
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

const marks: Record<Action, IconName> = {
  'purge-edge': 'zap',
  'purge-object': 'zap',
  close: 'shield',
  open: 'play',
  'backup-db': 'database',
  'backup-fs': 'archive',
  update: 'refreshCw',
  tag: 'tag',
}

/** Changes one site with the same request as on its own page. */
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

type Listed = Pick<components['schemas']['Site'], 'id' | 'displayName'>

interface Run {
  readonly about: string
  readonly all: number
  readonly done: number
  readonly faults: readonly string[]
  readonly isStopped: boolean
}

/** Continues while other pages are open. */
const run = signal<Run | undefined>(undefined)

async function begin(what: Action, label: string): Promise<void> {
  const waiting = [...chosen.value]
  const work = actions[what]
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

/** The actions on the bar itself. The menu has the others. */
const FIRST: readonly Action[] = ['update', 'backup-db', 'purge-edge']

const all = Object.keys(texts.actions) as Action[]

/** Runs one action on each selected site, after a question that counts them. A site that failed stays selected, with the reason. */
export function Bulk({ page }: { readonly page: readonly Listed[] }) {
  const count = chosen.value.size
  const isOn = Boolean(run.value && run.value.done < run.value.all && !run.value.isStopped)
  if (count === 0 && !run.value) return null
  return (
    <section class="bulk" aria-label={texts.title}>
      {run.value && <Going run={run.value} isOn={isOn} />}
      {!isOn && count > 0 && (
        <>
          <b>{texts.selected(count)}</b>
          <SitesRights ids={[...chosen.value.keys()]}>
            {FIRST.map((each) => (
              <Button key={each} isSmall icon={marks[each]} of={rights[each]} onClick={confirm(each)}>
                {texts.actions[each]}
              </Button>
            ))}
            <Button isSmall icon="shield" of="startSafeUpdate" onClick={updateSafely}>
              {texts.updateSafely}
            </Button>
            <Menu isUp class="sm" label={texts.more} button={texts.more}>
              {all
                .filter((each) => !FIRST.includes(each))
                .map((each) => (
                  <MenuItem key={each} icon={marks[each]} of={rights[each]} onClick={confirm(each)}>
                    {texts.actions[each]}
                  </MenuItem>
                ))}
            </Menu>
          </SitesRights>
          <Button isGhost isSmall onClick={() => chooseAll(page)}>
            {texts.page}
          </Button>
          <Button
            isGhost
            isSmall
            onClick={() => {
              chosen.value = new Map()
            }}
          >
            {texts.clear}
          </Button>
        </>
      )}
      {asked.value && <Confirm action={asked.value} />}
    </section>
  )
}

/** One operation for all of them, with a page of its own. */
const updateSafely = () => askFirst(manyUpdates([...chosen.value.keys()], manyUpdatesTexts.everything, { all: true }))()

const asked = signal<Action | undefined>(undefined)

const confirm = (action: Action) => () => {
  asked.value = action
}

function withdraw(): void {
  asked.value = undefined
}

/** The question: what will happen, and to how many sites. */
function Confirm({ action }: { readonly action: Action }) {
  const label = texts.actions[action]
  return (
    <Dialog title={texts.ask(label, chosen.value.size)} describedBy="consequence" onClose={withdraw}>
      <p id="consequence">{texts.sure[action]}</p>
      <Form
        fields={action === 'tag' ? [{ name: 'tag', label: texts.tag, autocomplete: 'off' }] : []}
        button={texts.confirm(label)}
        isForgotten
        submit={async ({ tag = '' }) => {
          withdraw()
          void begin(action, tag.trim())
        }}
      />
    </Dialog>
  )
}

const Going = ({ run: shown, isOn }: { readonly run: Run; readonly isOn: boolean }) => {
  const about = texts.progress(shown.about, shown.done, shown.all)
  return (
    <div role="status" aria-live="polite">
      <div class="row spread">
        <span>{about}</span>
        <Button
          isSmall
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
