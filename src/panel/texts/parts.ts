export const laterTexts = {
  reading: 'Opening …',
  failed: 'This page could not be loaded. Stead may have been updated: load it again.',
}

export const secretTexts = {
  once: 'Shown this once: nobody can read it again, not even Stead.',
  copy: 'Copy',
  copied: 'Copied',
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
