export const databaseTexts = {
  open: 'Open database',
  tool: 'Adminer',
  toolIs: 'Browse and edit the tables of this site in Adminer, in a new tab. It opens this database only.',
  link: 'The link works once. The session ends after one hour.',
  care: 'Changes apply at once, and you cannot undo them. Back up the database first.',
  size: 'Database size',
  size30: (size: string) => `of ${size} used by the site`,
  newest: 'Newest database backup',
  none: 'None yet',
  backUp: 'Back up database',
  about: 'Database backup',
  restore: 'Restore a backup',
}
