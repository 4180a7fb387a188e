export const overviewTexts = {
  unknown: '–',
  environments: {
    local: 'Local',
    development: 'Development',
    staging: 'Staging',
    production: 'Production',
  } as Readonly<Record<string, string>>,
  openSite: 'Open site',
  login: 'WordPress admin',
  more: 'More actions',
  database: 'Open database',
  password: 'Reset admin password',
  passwordOf: 'New password of the WordPress administrator',
  passwordAsk: 'Stead sets a new password for the WordPress administrator and ends all sessions of that user.',
  enable: 'Enable site',
  disable: 'Disable site',
  disabled: 'Site disabled',
  disableIs: 'Visitors get an error page until you enable the site again. Files, database, and backups stay.',
  views: 'Page views, 30 days',
  visitors: 'Visitors a day, average',
  today: 'Page views today',
  yesterday: (count: number) => `${count.toLocaleString()} yesterday`,
  disk: 'Disk',
  ofDatabase: (size: string) => `${size} database`,
  databaseErrors: {
    title: (count: number, most: number) =>
      count >= most
        ? `At least ${most.toLocaleString()} database errors in the last 7 days`
        : count === 1
          ? '1 database error in the last 7 days'
          : `${count.toLocaleString()} database errors in the last 7 days`,
    text: 'WordPress or a plugin sent statements that the database refused. Pages may lack content. The log names each statement and the code that sent it.',
    log: 'Show database errors',
  },
  environment: 'Environment',
  wordpress: 'WordPress',
  php: 'PHP',
  changePhp: 'Change',
  backups: 'Backups',
  backUp: { db: 'Back up database', fs: 'Back up files' },
  domains: 'Domains',
  domainsOf: (count: number) => (count === 0 ? 'None yet' : count === 1 ? '1 domain' : `${count} domains`),
  manage: 'Manage',
  sftp: 'SFTP and SSH host',
  created: 'Created',
  caching: 'Caching and modes',
  edgeIs: 'Pages and files, purged when content changes',
  flush: 'Flush',
  maintenance: 'Maintenance mode',
  maintenanceIs: 'Visitors see a maintenance page. Logged-in users can keep working.',
  safeMode: 'Safe mode',
  safeModeIs: 'Runs WordPress without plugins',
  activity: 'Activity',
  all: 'All activity',
  traffic: 'Traffic, last 30 days',
  day: 'Day',
  pageViews: 'Page views',
  people: 'Visitors',
  turned: (name: string, isOn: boolean) => `${name} turned ${isOn ? 'on' : 'off'}`,
  advice: {
    shop_on_embedded_database: {
      title: 'This shop can have a faster database',
      text: (version: string) =>
        `WooCommerce is designed for MariaDB. This shop uses the embedded database, and its host has MariaDB with PHP ${version}.`,
      button: 'Move to MariaDB',
      sure: 'Stead copies the files and the database, checks the homepage, and then switches. The site is briefly unavailable.',
    },
  },
}

export const tagsTexts = {
  name: 'Tag',
  add: 'Add tag',
  remove: (name: string) => `Remove tag ${name}`,
  favorite: 'Favorite',
  done: 'Tags changed',
  favoriteDone: 'Favorites changed',
}
