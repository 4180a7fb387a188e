/* Drawn for Stead: a house of two strokes on a base, after its name. */

const house = '<path d="M6 15 16 6l10 9M10 13v11h12V13M4 28h24" fill="none" stroke="#7ad3a8" stroke-width="3"/>'

/** The logo for a dark background, 120 by 32. */
export const logo = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 32" width="150" height="40" role="img" aria-label="Stead">${house}` +
    '<text x="38" y="24" font-family="system-ui,sans-serif" font-size="22" font-weight="600" fill="#fff">Stead</text></svg>',
)

/** The house only, for the tab of a browser. */
export const icon = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#1b1b1b"/>${house}</svg>`,
)
