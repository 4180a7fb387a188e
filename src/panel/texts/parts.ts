export const laterTexts = {
  reading: 'Loading…',
  updated: 'Stead was updated. Reload this page to use the new version.',
  reload: 'Reload page',
  tryAgain: 'Try again',
}

export const formTexts = {
  reveal: { true: 'Hide characters', false: 'Show characters' },
  entry: (label: string, number: number) => `${label}, entry ${number}`,
}

export const secretTexts = {
  once: 'Copy it now. Stead does not store it, and cannot show it again.',
  copy: 'Copy',
  copied: 'Copied',
  copyOf: (name: string) => `Copy ${name}`,
}

export const askFirstTexts = {
  wrong: { text: 'The name does not match.', email: 'The address does not match.' },
  type: (name: string) => `Type ${name} to confirm`,
}

export const sitePickerTexts = {
  none: 'No site selected.',
  search: 'Find another site by name',
  notFound: 'No sites match.',
}

export const progressTexts = {
  states: {
    queued: 'Queued',
    running: 'Running',
    succeeded: 'Done',
    failed: 'Failed',
    canceled: 'Canceled',
  } as Readonly<Record<string, string>>,
  step: (title: string, progress: number) => `${title} · ${progress} %`,
  results: (count: number) => (count === 1 ? 'One site' : `${count} sites`),
  site: (id: number) => `Site ${id}`,
}

export const rightsTexts = {
  reading: 'Loading…',
  leftOut: (count: number) =>
    count === 1 ? '1 action needs more permissions' : `${count} actions need more permissions`,
}

export const paletteTexts = {
  title: 'Search',
  what: 'Search or jump to…',
  goTo: 'page',
  act: 'action',
  site: 'site',
  person: 'person',
  recent: 'recently opened',
  found: (count: number) => (count === 0 ? 'No results.' : count === 1 ? '1 result' : `${count} results`),
}

/** What visitors of a site see, and the current operation of a site. */
export const stateTexts: Readonly<Record<string, string>> = {
  live: 'Online',
  maintenance: 'Maintenance',
  disabled: 'Disabled',
  suspended: 'Suspended',
  deploying: 'Deploying',
  cloning: 'Cloning',
  restoring: 'Restoring',
  syncing: 'Syncing',
  importing: 'Importing',
  moving: 'Moving',
  closed: 'Closed',
  failed: 'Failed',
}

export const selectionTexts = {
  all: 'Select all',
  one: (name: string) => `Select ${name}`,
  selected: (count: number) => `${count} selected`,
  clear: 'Clear',
}

export const stepTexts = { done: 'Done', now: 'Next step', todo: 'Waiting', failed: 'Failed' }

export const changesTexts = {
  added: 'Added:',
  changed: 'Changed:',
  deleted: 'Deleted:',
  kept: 'Kept:',
  skipped: 'Skipped:',
  details: 'Show details',
}

export const switchTexts = { true: 'On', false: 'Off' }

export const filtersTexts = {
  filters: 'Filters',
  any: 'Any',
  chip: (label: string, value: string) => `${label}: ${value}`,
  remove: (chip: string) => `Remove filter ${chip}`,
  clear: 'Clear filters',
}

export const chartTexts = {
  table: 'Show as table',
  tableOf: (label: string) => `${label}, as a table`,
  none: '–',
  value: (name: string, value: string) => `${name} ${value}`,
  place: (label: string, values: string) => `${label}: ${values}`,
}

export const cursorTexts = {
  pages: 'Pages',
  newest: 'Newest',
  older: 'Older',
  first: 'First page',
  next: 'Next page',
}

export const exportTexts = {
  button: 'Export CSV',
  cut: (rows: number) => `Exported the newest ${rows.toLocaleString()} rows. Set filters to export older ones.`,
}

export const sortTexts = {
  sort: 'Sort by',
  usual: 'Default order',
  by: (head: string, isDescending: boolean) => `${head} ${isDescending ? '↓' : '↑'}`,
}

export const columnsTexts = { title: 'Columns', all: 'Show all columns' }
