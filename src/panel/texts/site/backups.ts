const counted = (count: number, one: string, several: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString()} ${several}`

export const backupsTexts = {
  title: 'Restore points',
  now: 'Back up now',
  order: { both: 'Files and database', db: 'Database', fs: 'Files' },
  about: { fs: 'File backup', db: 'Database backup' },
  count: 'Backups kept',
  oldest: (day: string) => `oldest ${day}`,
  newest: 'Newest backup',
  size: 'Newest size',
  sizeOf: (files: string, database: string) => `${files} files, ${database} database`,
  show: 'Show',
  shown: { all: 'All', ondemand: 'On demand', scheduled: 'Automatic', undo: 'Before a change' },
  head: ['Taken', 'Contents', 'Reason', 'Size', 'Kept until', 'Actions'],
  hiddenHeads: ['Actions'],
  emptyTitle: 'No backups yet',
  empty:
    'Take one before a change that you are unsure about. Stead also backs up files every night and the database every hour.',
  noneTitle: 'No backups match',
  none: 'Choose another filter.',
  all: 'Show all',
  of: { both: 'Files and database', fs: 'Files', db: 'Database' },
  reason: {
    ondemand: (person: string) => (person ? `On demand, by ${person}` : 'On demand'),
    scheduled: (isDatabase: boolean) => (isDatabase ? 'Hourly' : 'Nightly'),
    undo: () => 'Before a change',
  },
  creating: 'Creating',
  damaged: 'Damaged',
  damagedIs: (what: string) => `The storage lost a part of this backup: ${what}`,
  restore: 'Restore',
  restoreOf: (taken: string) => `Restore ${taken}`,
  more: (taken: string) => `More actions for ${taken}`,
  download: { fs: 'Download files', db: 'Download database' },
  delete: 'Delete backup',
  deleteIs: (what: string, taken: string) => `${what} of ${taken}. You cannot undo this.`,
  deleted: 'Backup deleted',
  line: (...parts: readonly string[]) => parts.join(' · '),
}

/** Types of entries, with WordPress' names. */
const kinds: Readonly<Record<string, readonly [one: string, several: string]>> = {
  post: ['post', 'posts'],
  page: ['page', 'pages'],
  attachment: ['media file', 'media files'],
  revision: ['revision', 'revisions'],
  comment: ['comment', 'comments'],
  user: ['user', 'users'],
  product: ['product', 'products'],
  order: ['order', 'orders'],
  shop_order: ['order', 'orders'],
}

const entries = (count: number, kind: string): string => {
  const [one, several] = kinds[kind] ?? [`entry of type ${kind}`, `entries of type ${kind}`]
  return counted(count, one, several)
}

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

export const restoreTexts = {
  title: (site: string, taken: string) => `Restore ${site} to ${taken}`,
  what: 'What to restore',
  choices: { all: 'Everything', fs: 'Files', db: 'Database', parts: 'Selected parts' },
  pair: (files: string, database: string) => `Files of ${files}, database of ${database}.`,
  paths: 'Files and folders, one per line',
  pathsHint: 'Such as wp-content/uploads. Other files stay as they are.',
  tables: 'Tables, one per line',
  tablesHint: 'Such as wp_options. Other tables stay as they are.',
  nothing: 'Enter at least one file, folder, or table.',
  other: 'Restore to another site',
  onto: 'Site to overwrite',
  preview: 'Preview changes',
  looking: 'Checking what would change',
  skip: 'Skip preview',
  noPreview: (why: string) => `Stead could not check what would change: ${why}`,
  changes: 'What the restore changes',
  lost: (parts: readonly string[], count: number) =>
    `${listed(parts)} ${count === 1 ? 'was' : 'were'} created since this backup.`,
  lostIs: 'The restore deletes them.',
  entries,
  deletedEntries: (what: string, table: string) => `${what} created since, in ${table}`,
  changedEntries: (what: string, table: string) => `${what} changed since, in ${table}`,
  removedFiles: (count: number, size: string) => `${counted(count, 'file', 'files')} not in the backup (${size})`,
  writtenFiles: (count: number, size: string) => `${counted(count, 'file', 'files')} restored (${size})`,
  same: 'Nothing changed since this backup.',
  item: (kind: string, title: string, at: string) => `${entries(1, kind)}: ${title}, ${at}`,
  type: (name: string) => `Type ${name} to confirm`,
  wrong: 'The name does not match.',
  hint: 'The site is briefly unavailable. You can undo this for 7 days.',
  go: 'Restore',
  about: (name: string) => `Restore ${name}`,
}
