import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'stead-theme'

const read = (): Theme => {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** The color theme that the person chose in this browser. */
export const theme = signal<Theme>(read())

effect(() => {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset.theme
  else dataset.theme = theme.value
  if (theme.value === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme.value)
})
