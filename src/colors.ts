/* Colors that people can read. The control panel computes with them, too, so this file imports nothing. */

/** A color as settings have it: `#rrggbb`. */
export type HexColor = string

export const HEX_COLOR = '^#[0-9a-fA-F]{6}$'

/** The contrast that normal text needs (WCAG 2.2, 1.4.3). */
const ENOUGH = 4.5
const WHITE = '#ffffff'
const BLACK = '#111318'

const channels = (color: HexColor): [number, number, number] => {
  const value = Number.parseInt(color.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/** Returns the relative luminance (WCAG 2.2). */
function luminance(color: HexColor): number {
  const [red, green, blue] = channels(color).map((each) => {
    const share = each / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast of two colors, from 1 to 21. */
export function contrast(one: HexColor, other: HexColor): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((left, right) => left - right)
  return (light + 0.05) / (dark + 0.05)
}

/** Returns black or white, whichever is easier to read on a color. One of them always has enough contrast. */
export const textOn = (color: HexColor): HexColor =>
  contrast(color, WHITE) >= ENOUGH || contrast(color, WHITE) >= contrast(color, BLACK) ? WHITE : BLACK

/** Returns a color with a share of another one in it. */
function mixed(color: HexColor, other: HexColor, share: number): HexColor {
  const [from, to] = [channels(color), channels(other)]
  const parts = from.map((each, at) => Math.round(each + ((to[at] as number) - each) * share))
  return `#${parts.map((each) => each.toString(16).padStart(2, '0')).join('')}`
}

/** Returns a color, or the first mix with another one that is readable. */
function firstReadable(color: HexColor, toward: HexColor, isReadable: (shade: HexColor) => boolean): HexColor {
  for (let share = 0; share < 1; share += 0.05) {
    const shade = mixed(color, toward, share)
    if (isReadable(shade)) return shade
  }
  return toward
}

/** Returns the color, or a darker one that can be read on white. */
export const readableOnWhite = (color: HexColor): HexColor =>
  firstReadable(color, '#000000', (shade) => contrast(shade, WHITE) >= ENOUGH)

/** The colors of buttons and links: as `--accent`, `--accent-hover`, `--accent-soft` and `--on-accent` of the panel. */
export interface AccentShades {
  /** A button, or a link on any background of the look. */
  readonly accent: HexColor
  readonly hover: HexColor
  /** The background of a chosen entry, whose text has the color `accent`. */
  readonly soft: HexColor
  /** Text on `accent` and on `hover`. */
  readonly on: HexColor
}

/** Backgrounds of the panel in its two looks. `test/contract/panel-brand.test.ts` compares it with the styles. */
export const panelLooks = {
  light: { surface: '#ffffff', behindLinks: ['#f0f2f2', '#f1f4f3', '#f6f7f7'], toward: '#000000', soft: 0.11 },
  dark: { surface: '#15191b', behindLinks: ['#1d2326', '#1b2023', '#0e1112'], toward: '#ffffff', soft: 0.14 },
} as const
export type PanelLook = keyof typeof panelLooks

/** Returns shades of an accent color that can be read in a look of the panel. */
export function accentShades(color: HexColor, look: PanelLook): AccentShades {
  const { surface, behindLinks, toward, soft: share } = panelLooks[look]
  const softOf = (shade: HexColor) => mixed(surface, shade, share)
  const accent = firstReadable(color, toward, (shade) =>
    [...behindLinks, softOf(shade)].every((behind) => contrast(shade, behind) >= ENOUGH),
  )
  return { accent, hover: mixed(accent, toward, 0.15), soft: softOf(accent), on: textOn(accent) }
}
