import { useSignal } from '@preact/signals'
import { api, ask } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Form } from '../../../parts/form.tsx'
import { HeadActions } from '../../../parts/head-actions.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { List } from '../../../parts/list.tsx'
import { Menu, MenuItem } from '../../../parts/menu.tsx'
import { useRefusal } from '../../../parts/rights.tsx'
import { Segment } from '../../../parts/segment.tsx'
import { BulkBar, useSelection } from '../../../parts/selection.tsx'
import { Toggle } from '../../../parts/switch.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { Vulnerabilities } from '../../../parts/vulnerabilities.tsx'
import { pluginsTexts as texts } from '../../../texts/site/plugins.ts'
import { safeUpdatesTexts as safely } from '../../../texts/site/safe-updates.ts'
import type { PartProps } from '../part.ts'
import { UndoNote } from '../undo-note.tsx'
import { nameOf, type Plugin, type PluginChanges, usePluginChanges, usePrevious } from './plugin-changes.ts'
import { SafeUpdates, updateSafely } from './safe-updates.tsx'
import { UpdatePolicy } from './update-policy.tsx'

const isDue = ({ update }: Plugin): boolean => update === 'available'
const isFixed = ({ status }: Plugin): boolean => status === 'must-use' || status === 'dropin'
const pathOf = ({ name }: Plugin) => ({ path: name })
const titleOf = ({ title, name }: Plugin): string => title || name

const filters = {
  all: () => true,
  due: isDue,
  inactive: ({ status }: Plugin) => status === 'inactive',
  'must-use': isFixed,
} as const
type Shown = keyof typeof filters

export function Plugins(props: PartProps) {
  const { id } = props
  const plugins = useLoad(() => ask(() => api.GET('/v1/sites/{id}/plugins', { params: { path: { id } } })), [id])
  const changing = usePluginChanges(id)
  const previous = usePrevious(id)
  const isAdding = useSignal(false)
  const versionOf = useSignal<Plugin | undefined>(undefined)
  const shown = useSignal<Shown>('all')
  const part = useSignal('')
  const all = plugins.got.value?.data ?? []
  const due = all.filter(isDue)
  const rows = all
    .filter(filters[shown.value])
    .filter((each) => `${each.title} ${each.name}`.toLowerCase().includes(part.value.toLowerCase()))
  const selection = useSelection<Plugin>({ keyOf: (each) => (isFixed(each) ? undefined : each.name), nameOf: titleOf })
  const mayNot = useRefusal('updatePlugins', texts.update)
  const install = () => {
    isAdding.value = true
  }
  const counted = Object.fromEntries(
    (Object.keys(filters) as Shown[]).map((each) => [each, texts.shown[each](all.filter(filters[each]).length)]),
  ) as Record<Shown, string>
  return (
    <>
      <HeadActions>
        <Button icon="plus" of="installPlugins" onClick={install}>
          {texts.install}
        </Button>
        {due.length > 0 && (
          <Button
            of="updatePlugins"
            label={texts.updateAllOf(due.length)}
            onClick={changing.change('update', due.map(pathOf))}
          >
            {texts.updateAll}
          </Button>
        )}
        {due.length > 0 && (
          <Button isMain of="startSafeUpdate" label={safely.updateAllOf(due.length)} onClick={updateSafely(id)}>
            {safely.updateAll} <span class="count">{due.length}</span>
          </Button>
        )}
      </HeadActions>
      <Vulnerabilities siteId={id} />
      <UndoNote {...props} of={['plugin.update_safely', 'plugin.update', 'plugin.install', 'plugin.delete']} />
      <div class="filters">
        <div class="searches">
          <Icon name="search" />
          <input
            type="search"
            aria-label={texts.search}
            placeholder={texts.search}
            value={part.value}
            onInput={({ currentTarget }) => {
              part.value = currentTarget.value.trim()
            }}
          />
        </div>
        <Segment
          label={texts.show}
          options={counted}
          value={shown.value}
          set={(to) => {
            shown.value = to
          }}
        />
      </div>
      <List
        from={{ fault: plugins.fault, got: { value: plugins.got.value && { data: rows } } }}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        columns={['wide', 'extra num', '', 'below']}
        sorts={sorts}
        isCards
        {...(mayNot === undefined && { selection })}
        empty={<None isFiltered={all.length > 0} install={install} />}
        row={(plugin) => [
          <span class="who">
            <span>
              <b class="name">{titleOf(plugin)}</b>
              <span class="sub">
                {plugin.name} <span class="only-phone">{versionsOf(plugin)}</span>
              </span>
            </span>
          </span>,
          isDue(plugin) ? (
            <span class="badge warn">
              {versionsOf(plugin)} <span class="hidden">{texts.due}</span>
            </span>
          ) : (
            plugin.version
          ),
          <Active plugin={plugin} changing={changing} />,
          <Actions
            plugin={plugin}
            changing={changing}
            previous={previous.get(plugin.name)}
            choose={() => {
              versionOf.value = plugin
            }}
          />,
        ]}
      />
      <SafeUpdates id={id} />
      <UpdatePolicy id={id} />
      <Bulk
        id={id}
        of={all.filter(({ name }) => selection.keys.value.has(name))}
        keys={selection.keys}
        changing={changing}
      />
      {isAdding.value && <Install changing={changing} onClose={() => (isAdding.value = false)} />}
      {versionOf.value && (
        <OtherVersion plugin={versionOf.value} changing={changing} onClose={() => (versionOf.value = undefined)} />
      )}
    </>
  )
}

/** The default order is that of WordPress. Sorted by version, plugins with an update come first. */
const sorts = [
  { key: 'name', by: titleOf },
  { key: 'version', by: (plugin: Plugin) => `${isDue(plugin) ? 0 : 1} ${titleOf(plugin)}` },
]

const versionsOf = (plugin: Plugin): string =>
  isDue(plugin) ? texts.versions(plugin.version, plugin.update_version ?? '') : plugin.version

const None = ({ isFiltered, install }: { readonly isFiltered: boolean; install(): void }) => (
  <div class="card">
    {isFiltered ? (
      <Empty icon="search" title={texts.noneTitle} text={texts.none} />
    ) : (
      <Empty icon="plug" title={texts.emptyTitle} text={texts.empty}>
        <Button isMain icon="plus" of="installPlugins" onClick={install}>
          {texts.install}
        </Button>
      </Empty>
    )}
  </div>
)

interface RowProps {
  readonly plugin: Plugin
  readonly changing: PluginChanges
}

function Active({ plugin, changing }: RowProps) {
  const fixed = texts.fixed[plugin.status]
  if (fixed) return <span class="badge">{fixed}</span>
  const busy = changing.busy.value.get(plugin.name)
  const isActive = plugin.status === 'active'
  const isOn = busy === 'activate' || (busy !== 'deactivate' && isActive)
  return (
    <Toggle
      label={texts.activeOf(titleOf(plugin))}
      of={isActive ? 'deactivatePlugins' : 'activatePlugins'}
      isOn={isOn}
      isDisabled={busy !== undefined}
      turn={(to) => changing.change(to ? 'activate' : 'deactivate', [pathOf(plugin)])()}
    />
  )
}

function Actions(
  props: RowProps & { readonly previous: { from: string; to: string } | undefined; readonly choose: () => void },
) {
  const { plugin, changing, previous, choose } = props
  if (isFixed(plugin)) return null
  const [name, path] = [titleOf(plugin), plugin.name]
  if (changing.busy.value.has(path)) return <span class="quiet">{texts.busy}</span>
  const back = previous?.to === plugin.version ? previous.from : undefined
  return (
    <span class="row nowrap">
      {back !== undefined && (
        <Button
          isSmall
          icon="undo2"
          of="updatePlugins"
          label={texts.rollBackOf(name, back)}
          onClick={changing.change('update', [{ path, version: back }])}
        >
          {texts.rollBack(back)}
        </Button>
      )}
      {isDue(plugin) && (
        <Button isSmall of="updatePlugins" label={texts.updateOf(name)} onClick={changing.change('update', [{ path }])}>
          {texts.update}
        </Button>
      )}

      <Menu of="updatePlugins" label={texts.more(name)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
        <MenuItem icon="refreshCw" of="updatePlugins" onClick={choose}>
          {texts.otherVersion}
        </MenuItem>
        {plugin.status === 'inactive' && (
          <MenuItem icon="trash2" isBad of="deletePlugins" onClick={deleteFirst([plugin], changing)}>
            {texts.delete}
          </MenuItem>
        )}
      </Menu>
    </span>
  )
}

function deleteFirst(plugins: readonly Plugin[], changing: PluginChanges): () => void {
  const named = plugins[0] && plugins.length === 1 ? titleOf(plugins[0]) : texts.several(plugins.length)
  return askFirst({
    title: texts.about.delete(named),
    text: texts.deleteIs(named),
    button: texts.about.delete(named),
    go: () => changing.order('delete', plugins.map(pathOf)),
  })
}

type BulkProps = {
  readonly id: number
  readonly of: readonly Plugin[]
  readonly keys: ReturnType<typeof useSelection>['keys']
  readonly changing: PluginChanges
}

function Bulk({ id, of, keys, changing }: BulkProps) {
  const due = of.filter(isDue)
  const active = of.filter(({ status }) => status === 'active')
  const inactive = of.filter(({ status }) => status === 'inactive')
  const then = (run: () => void) => () => {
    keys.value = new Set()
    run()
  }
  return (
    <BulkBar label={texts.bulk} keys={keys}>
      {due.length > 0 && (
        <Button isSmall icon="refreshCw" of="updatePlugins" onClick={then(changing.change('update', due.map(pathOf)))}>
          {texts.about.update(nameOf(due.map(pathOf)))}
        </Button>
      )}
      {due.length > 0 && (
        <Button isSmall icon="shield" of="startSafeUpdate" onClick={then(updateSafely(id, due.map(pathOf)))}>
          {safely.update}
        </Button>
      )}
      {inactive.length > 0 && (
        <Button
          isSmall
          icon="play"
          of="activatePlugins"
          onClick={then(changing.change('activate', inactive.map(pathOf)))}
        >
          {texts.activate}
        </Button>
      )}
      {active.length > 0 && (
        <Button
          isSmall
          icon="power"
          of="deactivatePlugins"
          onClick={then(changing.change('deactivate', active.map(pathOf)))}
        >
          {texts.deactivate}
        </Button>
      )}
      <Button isSmall isBad icon="trash2" of="deletePlugins" onClick={deleteFirst(of, changing)}>
        {texts.delete}
      </Button>
    </BulkBar>
  )
}

type DialogProps = { readonly changing: PluginChanges; onClose(): void }

const Install = ({ changing, onClose }: DialogProps) => (
  <Dialog title={texts.install} onClose={onClose}>
    <p>{texts.installIs}</p>
    <Form
      fields={[{ name: 'path', label: texts.path, hint: texts.pathHint, autocomplete: 'off' }]}
      button={texts.install}
      submit={async ({ path = '' }) => {
        await changing.order('install', [{ path: path.trim() }])
        onClose()
      }}
    />
  </Dialog>
)

const OtherVersion = ({ plugin, changing, onClose }: DialogProps & { readonly plugin: Plugin }) => (
  <Dialog title={texts.updateOf(titleOf(plugin))} onClose={onClose}>
    <Form
      fields={[{ name: 'version', label: texts.version, hint: texts.versionHint, autocomplete: 'off' }]}
      button={texts.installVersion}
      submit={async ({ version = '' }) => {
        await changing.order('update', [{ path: plugin.name, version: version.trim() }])
        onClose()
      }}
    />
  </Dialog>
)
