export const backupsTexts = {
  title: 'Backups on demand',
  order: { fs: 'Back up the files', db: 'Back up the database' },
  about: { fs: 'Backup of the files', db: 'Backup of the database' },
  head: ['Of', 'State', 'Taken', 'Kept', 'Actions'],
  empty: 'None yet. Every night and every hour one is taken by itself.',
  of: { fs: 'files', db: 'database' },
  removedIn: (time: string) => `removed in ${time}`,
  download: 'Download',
  restore: 'Restore',
  restoreIt: 'Restore it',
  restoreHelp: (what: string) =>
    `The ${what} of the site become those of the backup; what was written since is gone. It can be taken back for seven days, under Operations.`,
}
