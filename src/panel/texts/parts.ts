export const laterTexts = {
  reading: 'Opening …',
  failed: 'This page could not be loaded. Stead may have been updated: load it again.',
}

export const secretTexts = {
  once: 'Shown this once: nobody can read it again, not even Stead.',
  copy: 'Copy',
  copied: 'Copied',
  copyOf: (name: string) => `Copy: ${name}`,
}

export const askFirstTexts = { wrong: 'That is not its name.', type: (name: string) => `Type ${name} to go on` }

export const sitePickerTexts = {
  none: 'No site is chosen.',
  search: 'Another site, by its name',
  notFound: 'No site has that in its name.',
}

export const progressTexts = {
  results: (count: number) => (count === 1 ? 'One site' : `${count} sites`),
  site: (id: number) => `Site ${id}`,
}

export const rightsTexts = {
  reading: 'Reading …',
  leftOut: (count: number) => `Left out, since you may not do it: ${count}`,
}

export const paletteTexts = {
  open: 'Search (Ctrl K)',
  title: 'Go to, or do',
  what: 'A site, a page or an action',
  goTo: 'page',
  act: 'action',
  site: 'site',
  found: (count: number) => (count === 0 ? 'Nothing has that in its name.' : `${count} found`),
}
