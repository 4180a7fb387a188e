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

/** Returns the color, or a darker one that can be read on white. */
export function readableOnWhite(color: HexColor): HexColor {
  let shade = color
  for (let share = 0.95; contrast(shade, WHITE) < ENOUGH; share -= 0.05)
    shade = `#${channels(color)
      .map((each) =>
        Math.round(each * share)
          .toString(16)
          .padStart(2, '0'),
      )
      .join('')}`
  return shade
}
