export const overviewTexts = {
  site: 'The site',
  address: 'Address',
  wordpress: 'WordPress',
  php: 'PHP',
  kind: 'Kind',
  kinds: { true: 'staging', false: 'billable' },
  sftp: 'SFTP',
  made: 'Made',
  advice: {
    shop_on_embedded_database: {
      title: 'This shop can have a faster database',
      text: (version: string) =>
        `WooCommerce is made for MariaDB. This shop uses the embedded database, and its host has MariaDB with PHP ${version}.`,
      button: 'Move to MariaDB',
      sure: 'Stead copies files and database, checks the front page, and then switches. Visitors see a maintenance page for the moment of the switch.',
    },
  },
  login: 'Log in to WordPress',
  database: 'Database',
  password: 'New password',
  passwordOf: 'New password of the WordPress administrator',
  passwordAsk: 'The administrator of WordPress gets a new password. All sessions of that user end.',
  caches: 'Caches',
  edge: { enabled: 'The edge cache is on.', disabled: 'The edge cache is off.' },
  emptyEdge: 'Empty the edge cache',
  emptyIt: 'Empty it',
  switchEdge: 'Edge cache',
  switchIt: { enabled: 'Switch it off', disabled: 'Switch it on' },
  emptyObjects: 'Empty the object cache',
  care: 'Care',
  careIs:
    'While the maintenance page is on, visitors see it; who is logged in works on. Safe mode runs WordPress without plugins.',
  closed: 'Maintenance page',
  close: 'Maintenance page on',
  open: 'Maintenance page off',
  enable: 'Enable',
  disable: 'Disable',
  safe: { true: 'Safe mode off', false: 'Safe mode on' },
}

export const tagsTexts = {
  tags: 'Tags',
  add: 'Add a tag',
  addIt: 'Add',
  remove: (name: string) => `Remove the tag ${name}`,
  favourite: { true: '★ Favourite', false: '☆ Make it a favourite' },
  done: 'Tags',
}
