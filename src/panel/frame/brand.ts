import { computed, effect, signal } from '@preact/signals'
import { type CurrentSession, person, session } from '../session.ts'
import { commonTexts } from '../texts/common.ts'

export type Brand = NonNullable<CurrentSession['brand']>
type Tokens = Readonly<Record<string, string>>

const KEY = 'stead-brand'

/** The brand that this browser showed last, so that the page has it before the session is known. */
const kept: { readonly brand?: Brand; readonly tokens?: Tokens } | undefined = (() => {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '')
    return typeof found.brand.name === 'string' ? found : undefined
  } catch {
    return undefined
  }
})()

/** What the panel shows in the place of its own name, logo and color. It stays while a person must sign in again. */
export const brand = computed<Brand | null>(() =>
  session.value === undefined ? (kept?.brand ?? null) : (person.value?.brand ?? null),
)

/** The name of the panel. */
export const productName = computed(() => brand.value?.name ?? commonTexts.title)

const tokens = signal<Tokens>(kept?.tokens ?? {})

effect(() => {
  const color = brand.value?.color
  if (session.value === undefined || (color && color === kept?.brand?.color && kept.tokens === tokens.peek())) return
  if (!color) tokens.value = {}
  else
    void import('./accent-tokens.ts').then(({ accentTokens }) => {
      if (brand.peek()?.color === color) tokens.value = accentTokens(color)
    })
})

effect(() => {
  const { style } = document.documentElement
  for (const part of ['accent', 'hover', 'soft', 'on'])
    for (const look of ['light', 'dark']) {
      const token = `--brand-${part}-${look}`
      const value = tokens.value[token]
      // Colors only, if the browser kept anything else.
      style.setProperty(token, value && /^#\w+$/.test(value) ? value : '')
    }
})

effect(() => {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (!icon) return
  icon.dataset.usual ??= icon.href
  icon.href = brand.value?.logo?.location ?? icon.dataset.usual
})

effect(() => {
  // Before the first page has a title.
  if (document.title === commonTexts.title) document.title = productName.value
})

effect(() => {
  if (session.value === undefined) return
  if (brand.value) localStorage.setItem(KEY, JSON.stringify({ brand: brand.value, tokens: tokens.value }))
  else localStorage.removeItem(KEY)
})
