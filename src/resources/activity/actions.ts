/** Actions on an account itself, with what they mean. */
export const accountActions = {
  settings: 'Settings of the account were changed',
  'addon.attached': 'An add-on was attached',
  'addon.changed': 'The quantity of an add-on was changed',
  'addon.detached': 'An add-on was detached',
} as const

/** Actions on a site, or on background work and collaborators that can be of one. */
export const siteActions = {
  'site.created': 'A site was created',
  'site.deployed': 'A site was installed and went live',
  'site.deploy_failed': 'A site could not be installed',
  'site.updated': 'Settings of a site were changed',
  'site.disabled': 'A site was disabled',
  'site.enabled': 'A site was enabled',
  'site.deleted': 'A site was deleted',
  'site.undeleted': 'A deleted site was brought back',
  'site.lost': 'The database or the folder of a site was found missing',
  'site.disk_full': 'A site could not write for want of disk space',
  'account.collaborator': 'Collaborators or their rights were changed',
  'collaborator.password_reset': "The password of a collaborator's WordPress user was reset",
  'collaborator.wordpress_user_failed':
    'The WordPress user of a collaborator could not be brought in line with its role',
  'wordpress.password_reset': 'The password of the site owner was reset',
  'edge_cache.enabled': 'The edge cache was switched on',
  'edge_cache.disabled': 'The edge cache was switched off',
  'edge_cache.purged': 'The edge cache was purged',
  'cdn.enabled': 'The CDN was switched on',
  'cdn.disabled': 'The CDN was switched off',
  'cdn.purged': 'The CDN was cleared',
  'edge_cache.defensive_mode': 'The defensive mode of the edge cache was switched',
  'wordpress.lightweight_404.enabled': 'Lightweight 404 answers for missing files were switched on',
  'wordpress.lightweight_404.disabled': 'Lightweight 404 answers for missing files were switched off',
  'wordpress.multisite.enabled': 'Multisite support was switched on',
  'wordpress.multisite.disabled': 'Multisite support was switched off',
  'wordpress.maintenance_mode': 'Maintenance mode was ordered to be switched',
  'wordpress.object_cache': 'The object cache was emptied',
  'favorite.added': 'A site was marked as a favourite',
  'favorite.removed': 'A site is no favourite any more',
  'tag.added': 'Tags were added to a site',
  'tag.removed': 'Tags were removed from a site',
  'note.created': 'A note was written',
  'note.updated': 'A note was changed',
  'note.deleted': 'A note was deleted',
  'operation.canceled': 'A background operation was canceled',
  'operation.retried': 'A background operation was started again',
} as const

/** Every action that Stead writes into an activity log. The action lists of the API are these tables. */
export const actions = { ...accountActions, ...siteActions }

export type AccountAction = keyof typeof accountActions
export type SiteAction = keyof typeof siteActions
