import { signal } from '@preact/signals'

/** Splits what stands behind `#`, as in `/sites/1/logs?status=404`. */
const [readPath, readQuery] = [
  (): string[] =>
    (location.hash.replace(/^#\/?/, '').split('?')[0] ?? '').split('/').filter(Boolean).map(decodeURIComponent),
  (): URLSearchParams => new URLSearchParams(location.hash.split('?')[1] ?? ''),
] as const

/** The page that is asked for: the parts of what stands behind `#`, which browsers send to nobody. */
export const route = signal<readonly string[]>(readPath())
/** Filters, tabs and places in lists: what the address says besides its page. */
export const query = signal<URLSearchParams>(readQuery())

addEventListener('hashchange', () => {
  const before = route.peek().join('/')
  route.value = readPath()
  query.value = readQuery()
  // a screen reader, and the keyboard, begin with the new page
  if (route.peek().join('/') !== before) document.querySelector<HTMLElement>('main')?.focus()
})

export const go = (path: string): void => {
  location.hash = path
}

/** Writes into the address how the page is narrowed, without a new entry in the history. An empty value is left out. */
export function setQuery(change: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.peek())
  for (const [name, value] of Object.entries(change)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  const text = next.toString()
  history.replaceState(history.state, '', `#/${route.peek().map(encodeURIComponent).join('/')}${text && `?${text}`}`)
  query.value = next
}
