import { signal, useSignal } from '@preact/signals'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { told } from '../../parts/toasts.tsx'
import { go } from '../../route.ts'
import { person } from '../../session.ts'
import { viewsTexts as texts } from '../../texts/sites.ts'
import { narrowed } from './choice.ts'

interface View {
  readonly name: string
  /** The address of the list without its page. */
  readonly query: string
}

const keyOf = (): string => `stead-views ${person.peek()?.account_id}`

function read(): readonly View[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf()) ?? '[]')
  } catch {
    return []
  }
}

function keep(views: readonly View[]): void {
  localStorage.setItem(keyOf(), JSON.stringify(views))
  changes.value++
}

const changes = signal(0)

/** Saved filters and order of the list of sites under a name, stored in this browser for each account. */
export function Views() {
  const isNaming = useSignal(false)
  const now = narrowed()
  const views = changes.value >= 0 ? read() : []
  const current = views.find(({ query }) => query === now)
  return (
    <>
      <Menu
        label={current ? texts.shown(current.name) : texts.title}
        button={
          <>
            {current?.name ?? texts.title} <Icon name="chevronDown" />
          </>
        }
      >
        {views.map((view) => (
          <MenuItem key={view.name} isChosen={view === current} onClick={() => go(`/sites?${view.query}`)}>
            {view.name}
          </MenuItem>
        ))}
        {views.length === 0 && <p class="quiet small hint">{texts.none}</p>}
        {now && !current && (
          <MenuItem
            icon="plus"
            onClick={() => {
              isNaming.value = true
            }}
          >
            {texts.save}
          </MenuItem>
        )}
        {current && (
          <MenuItem
            icon="x"
            onClick={() => {
              keep(views.filter((view) => view !== current))
              told(texts.deleted(current.name), () => keep(views))
            }}
          >
            {texts.delete(current.name)}
          </MenuItem>
        )}
      </Menu>
      {isNaming.value && (
        <Dialog
          title={texts.save}
          onClose={() => {
            isNaming.value = false
          }}
        >
          <Form
            fields={[{ name: 'name', label: texts.name, autocomplete: 'off', hint: texts.kept }]}
            button={texts.button}
            isForgotten
            submit={async ({ name = '' }) => {
              const called = name.trim()
              keep([...views.filter((view) => view.name !== called), { name: called, query: now }])
              isNaming.value = false
            }}
          />
        </Dialog>
      )}
    </>
  )
}
