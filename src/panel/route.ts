import { signal } from '@preact/signals'

const read = (): string[] => location.hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent)

/** The page that is asked for: the parts of what stands behind `#`, which browsers send to nobody. */
export const route = signal<readonly string[]>(read())

addEventListener('hashchange', () => {
  route.value = read()
  // a screen reader, and the keyboard, begin with the new page
  document.querySelector<HTMLElement>('main')?.focus()
})

export const go = (path: string): void => {
  location.hash = path
}
