export const undoTexts = {
  /** By the type of the operation. */
  done: {
    'site.restore': 'Restored',
    'site.sync': 'Synced',
    'plugin.update': 'Plugins updated',
    'plugin.update_safely': 'Updated safely',
    'plugin.install': 'Plugins installed',
    'plugin.delete': 'Plugins deleted',
  },
  at: (what: string, time: string) => `${what} ${time}.`,
  kept: 'Stead keeps the previous content for 7 days.',
  /** By the type of the operation. */
  undo: {
    'site.restore': 'Undo restore',
    'site.sync': 'Undo sync',
    'plugin.update': 'Undo update',
    'plugin.update_safely': 'Undo update',
    'plugin.install': 'Undo installation',
    'plugin.delete': 'Undo deletion',
  },
  is: {
    'site.restore': 'Stead restores the content from before. Changes made on the site since then are lost.',
    'site.sync': 'Stead restores the synced parts from before. Changes made in them since then are lost.',
    'plugin.update':
      'Stead restores all plugins and the whole database from before. Posts, orders, and settings created since then are lost.',
    'plugin.update_safely':
      'Stead restores all plugins, all themes, and the whole database from before. Posts, orders, and settings created since then are lost.',
    'plugin.install':
      'Stead restores all plugins and the whole database from before. Posts, orders, and settings created since then are lost.',
    'plugin.delete':
      'Stead restores all plugins and the whole database from before. Posts, orders, and settings created since then are lost.',
  },
  again: 'You can undo this too.',
  all: (what: string, again: string) => `${what} ${again}`,
}
