import { type AccentShades, accentShades, type PanelLook } from '../../colors.ts'

const parts = ['accent', 'hover', 'soft', 'on'] as const satisfies readonly (keyof AccentShades)[]

const isColor = (color: string | null): color is string => color !== null && /^#[0-9a-f]{6}$/i.test(color)

/** Returns the properties that `styles/tokens.css` reads, for an accent color. Without one: none. */
export function accentTokens(color: string | null): Readonly<Record<string, string>> {
  if (!isColor(color)) return {}
  return Object.fromEntries(
    (['light', 'dark'] as const).flatMap((look) => {
      const shades = accentShades(color, look)
      return parts.map((part) => [`--brand-${part}-${look}`, shades[part]])
    }),
  )
}

/** Returns the tokens themselves, for a part of the page that has one look. */
export function accentTokensIn(look: PanelLook, color: string | null): Readonly<Record<string, string>> {
  if (!isColor(color)) return {}
  const { accent, hover, soft, on } = accentShades(color, look)
  return { '--accent': accent, '--accent-hover': hover, '--accent-soft': soft, '--on-accent': on }
}
