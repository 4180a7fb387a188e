import { signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { api, ask } from '../api.ts'
import { go } from '../route.ts'
import { session } from '../session.ts'
import { paletteTexts as texts } from '../texts/parts.ts'
import { Dialog } from './dialog.tsx'

interface Entry {
  readonly key: string
  readonly text: string
  /** Distinguishes it from others of the same name. */
  readonly detail?: string
  readonly kind: string
  run(): void
}

const isOpen = signal(false)

export function openPalette(): void {
  isOpen.value = true
}

/** Ctrl-K or Command-K. It does nothing while a dialog is open. */
export function listenForPalette(): void {
  addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    if (session.peek() && !document.querySelector('dialog[open]')) openPalette()
  })
}

/**
 * Actions that are available on any page. The frame supplies them, so that the palette depends on none of its parts.
 */
export const ownActions = signal<Readonly<Record<string, () => void>>>({})

/**
 * Everything on the current page: the links of its navigation, and its buttons. So it offers exactly what the person
 * may do.
 */
function entriesOfPage(): Entry[] {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav a[href^="#/"]')].map((link) => ({
    key: link.hash,
    text: link.textContent.trim(),
    kind: texts.goTo,
    run: () => go(link.hash.slice(1)),
  }))
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('main button:enabled:not(td [role=menu] *)')]
  const actions = buttons.map((button, at) => ({
    key: `button ${at}`,
    text: (button.ariaLabel ?? button.textContent).trim(),
    kind: texts.act,
    run: () => button.click(),
  }))
  const own = Object.entries(ownActions.value).map(([text, run]) => ({ key: text, text, kind: texts.act, run }))
  // Several navigations lead to the same page.
  const pages = links.filter(({ key }, at) => links.findIndex((other) => other.key === key) === at)
  return [...pages, ...actions.filter(({ text }) => /\p{L}/u.test(text)), ...own]
}

/** Sites and people that match the words of `q`. */
async function found(q: string): Promise<Entry[]> {
  const { sites, people } = (await ask(() => api.GET('/v1/search', { params: { query: { q } } }))).data
  return [
    ...sites.map(({ id, display_name, name, primary_domain }) => ({
      key: `site ${id}`,
      text: display_name,
      detail: primary_domain ?? name,
      kind: texts.site,
      run: () => go(`/sites/${id}`),
    })),
    ...people.map(({ email, name }) => ({
      key: `person ${email}`,
      text: name || email,
      detail: email,
      kind: texts.person,
      run: () => go(`/account/collaborators?person=${encodeURIComponent(email)}`),
    })),
  ]
}

const MOST_RECENT = 5
const keyOfRecent = () => `recent ${session.peek()?.account_id}`

interface Recent {
  readonly id: number
  readonly name: string
}

function recentSites(): Recent[] {
  try {
    return JSON.parse(localStorage.getItem(keyOfRecent()) ?? '[]')
  } catch {
    return []
  }
}

/** Remembers an opened site in this browser. */
export function noteOpened(site: Recent): void {
  const others = recentSites().filter(({ id }) => id !== site.id)
  localStorage.setItem(keyOfRecent(), JSON.stringify([site, ...others].slice(0, MOST_RECENT)))
}

const recentEntries = (): Entry[] =>
  recentSites().map(({ id, name }) => ({
    key: `recent ${id}`,
    text: name,
    kind: texts.recent,
    run: () => go(`/sites/${id}`),
  }))

export const Palette = () => (isOpen.value ? <OpenPalette /> : null)

function OpenPalette() {
  const typed = useSignal('')
  const at = useSignal(0)
  const matches = useSignal<{ readonly of: string; readonly entries: readonly Entry[] }>({
    of: '',
    entries: recentEntries(),
  })
  const ofPage = useRef<Entry[] | undefined>(undefined)
  ofPage.current ??= entriesOfPage()
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const words = typed.value.toLowerCase().split(/\s+/).filter(Boolean)
  const isMeant = ({ text, detail = '' }: Entry) =>
    words.every((word) => `${text} ${detail}`.toLowerCase().includes(word))
  const name = typed.value.trim()
  // Until the answer is here, Enter must not open what another search found.
  const listed = matches.value.of === name ? matches.value.entries : matches.value.entries.filter(isMeant)
  const entries = [...listed, ...ofPage.current.filter(isMeant)]
  const chosen = Math.min(at.value, entries.length - 1)

  useEffect(() => {
    let isOld = false
    if (name)
      found(name)
        .then((entries) => {
          if (!isOld) matches.value = { of: name, entries }
        })
        // The rest works without them.
        .catch(() => {})
    else matches.value = { of: name, entries: recentEntries() }
    return () => {
      isOld = true
    }
  }, [name])

  const close = () => {
    isOpen.value = false
  }
  function run(entry: Entry | undefined): void {
    if (!entry) return
    close()
    // After the dialog has returned the focus.
    setTimeout(entry.run)
  }
  function onKeyDown(event: KeyboardEvent): void {
    const turn = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (turn === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (turn === undefined) run(entries[chosen])
    else at.value = (chosen + turn + entries.length) % Math.max(entries.length, 1)
  }

  return (
    <Dialog title={texts.title} onClose={close}>
      <input
        ref={field}
        role="combobox"
        aria-label={texts.what}
        aria-expanded="true"
        aria-controls="palette"
        aria-autocomplete="list"
        aria-activedescendant={entries[chosen] && `palette-${chosen}`}
        autocomplete="off"
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          at.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette" role="listbox" aria-label={texts.title} class="palette">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys, as in a combobox
          <div
            key={entry.key}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: 'nearest' })
            }}
            onClick={() => run(entry)}
          >
            <span class="what">
              {entry.text}
              {entry.detail && entry.detail !== entry.text && <span class="quiet small"> {entry.detail}</span>}
            </span>{' '}
            <span class="quiet">{entry.kind}</span>
          </div>
        ))}
      </div>
      <p class="quiet" role="status">
        {texts.found(entries.length)}
      </p>
    </Dialog>
  )
}
