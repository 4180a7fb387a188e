import { signal } from '@preact/signals'

/** Splits the part after `#`, as in `/sites/1/logs?status=404`. */
const [readPath, readQuery] = [
  (): string[] =>
    (location.hash.replace(/^#\/?/, '').split('?')[0] ?? '').split('/').filter(Boolean).map(decodeURIComponent),
  (): URLSearchParams => new URLSearchParams(location.hash.split('?')[1] ?? ''),
] as const

/** The current page: the path after `#`, which browsers never send to a server. */
export const route = signal<readonly string[]>(readPath())
/** Filters, tabs and positions in lists: the query of the address. */
export const query = signal<URLSearchParams>(readQuery())

addEventListener('hashchange', () => {
  const before = route.peek().join('/')
  route.value = readPath()
  query.value = readQuery()
  // Screen readers and the keyboard start at the new page.
  if (route.peek().join('/') !== before) document.querySelector<HTMLElement>('main')?.focus()
})

export const go = (path: string): void => {
  location.hash = path
}

/** Writes filters into the address, without a new entry in the history. Leaves out empty values. */
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
